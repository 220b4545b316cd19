"""Values midway: instances that wait for numbers, and go on together."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import torch

from espalier.torch.batches import Batch


class _Instance:
    """A generator or coroutine, or the result of a plain function."""

    def __init__(self, number: int, started: Any):
        self.number = number
        self.answer = None
        self.waits_for: Any = None
        self._generator = started
        self.is_waiting = inspect.isgenerator(started) or inspect.iscoroutine(started)
        if not self.is_waiting:
            self.answer = started

    def go_on(self, tensors: Any) -> None:
        try:
            self.waits_for = self._generator.send(tensors)
        except StopIteration as end:
            self.answer = end.value
            self.is_waiting = False

    def close(self) -> None:
        if self.is_waiting:
            self._generator.close()


def run_batched(function: Callable, inputs: Iterable, *, strategy: str = "frontier",
                device: torch.device | str | None = None, batch: Batch | None = None) -> list:
    """Calls a function for every input, and runs the calls of cells of all of them together.

    The function can be a generator or ``async def``: ``tensor = yield value``, or ``await value``, waits for the
    tensor of a Value, or of a tuple, list or dict of Values. When all instances wait, one run computes everything.
    Returns what the functions returned, with tensors in the place of Values.

    >>> import torch, espalier.torch as et
    >>> half = et.cell(lambda x: x / 2, name="half")
    >>> def halvings(x):
    ...     x, count = et.constant(x), 0
    ...     while (yield x) > 1:
    ...         x, count = half(x), count + 1
    ...     return count
    >>> et.run_batched(halvings, [1., 4., 1000.])
    [0, 2, 10]
    """
    batch = Batch(strategy, device) if batch is None else batch
    instances: list[_Instance] = []
    with batch:
        try:
            for number, one in enumerate(inputs):
                batch.begin_instance()
                instances.append(_Instance(number, function(one)))
                if instances[-1].is_waiting:
                    instances[-1].go_on(None)
            while waiting := [instance for instance in instances if instance.is_waiting]:
                for instance, tensors in zip(waiting, [batch.run(instance.waits_for) for instance in waiting]):
                    batch.begin_instance_again(instance.number)
                    instance.go_on(tensors)
        finally:
            for instance in instances:
                instance.close()
        return batch.run([instance.answer for instance in instances])
