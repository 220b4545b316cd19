"""Batches: calls of cells are recorded, and run together."""

from __future__ import annotations

import os
import time
from typing import Any

import torch
from espalier import UsageError, strategies
from espalier._core import _torch

from espalier.torch import page
from espalier.torch.cells import Callee, inside_a_cell, is_value
from espalier.torch.execute import Blocks, Execution, no_such_run
from espalier.torch.explain import Explanation
from espalier.torch.joined import Joined, as_constant, constant_signature
from espalier.torch.kinds import Kind, kind_number, kind_of
from espalier.torch.modes import Mode, current_mode
from espalier.torch.operations import Value
from espalier.torch.signatures import Signature
from espalier.torch.statistics import Statistics
from espalier.torch.structure import take_apart

_constant_signatures: dict[tuple, Signature] = {}


def constants_of(kind: Kind, field: str) -> Signature:
    """The one signature of constants of a kind, which are numbers, integers or objects (tensors)."""
    key = (kind, field)
    if key not in _constant_signatures:
        with torch.enable_grad():
            _constant_signatures[key] = constant_signature(kind, Mode(), field)
    return _constant_signatures[key]


class Batch:
    """While its block is entered, calls of cells in this thread are recorded. Made by `et.batch()`."""

    def __init__(self, strategy: str = "frontier", device: torch.device | str | None = None):
        if strategy not in strategies:
            raise UsageError(f"there is no strategy {strategy!r}; there are {', '.join(strategies)}")
        self.strategy = strategy
        self.device = torch.get_default_device() if device is None else torch.device(device)
        self._recording = _torch.Recording()
        self._recording.set_constants(
            constants_of(kind_of((), torch.int64, self.device), "integer"),
            constants_of(kind_of((), torch.get_default_dtype(), self.device), "number"))
        self._blocks = Blocks()
        self._constants: list[torch.Tensor] = []  # tensors that are operands
        self._constant_values: dict[int, Value] = {}  # by their ids
        self._kept: dict[int, torch.Tensor] = {}
        self._before: list = []
        self._failed = False
        self._statistics = Statistics(strategy)
        self._explanation = Explanation(self._statistics)

    # --- recording ---------------------------------------------------------------------------------------------------

    def __enter__(self):
        if inside_a_cell():
            raise UsageError("a batch begins inside a cell; a cell's function computes with rows only")
        self._before.append(_torch.current())
        _torch.enter(self, self._current_recording())
        return self

    def __exit__(self, kind, error, trace):
        before = self._before.pop()
        try:
            if kind is None:
                self.run()
            else:
                self._failed = True
        finally:
            _torch.enter(before, before._current_recording() if before is not None else None)
            if not self._before:
                self._close()

    def _close(self) -> None:
        self._constant_values.clear()
        self._constants.clear()
        self._kept.clear()
        self._recording.close()

    def _current_recording(self):
        return self._recording

    def begin_instance(self) -> None:
        """What is recorded from now on belongs to another instance. Statistics and errors number them from 0."""
        self._recording.begin_instance()

    def begin_instance_again(self, number: int) -> None:
        """What is recorded from now on belongs to this instance, which has begun before."""
        self._recording.begin_instance_again(number)

    def record(self, signature: Signature, values: list, field: int = 0):
        """Records a call. For callees."""
        if not self._before:
            raise UsageError("the batch has ended")
        return self._recording.record(signature, values, field)

    def value_of(self, operand: Any, name: str) -> Value:
        """The Value that an operand is, or that of a constant tensor. For callees."""
        if is_value(operand):
            if operand._batch is not self:
                raise UsageError(f"cell {name!r}: an argument is a Value of another batch; its value() is a tensor")
            return operand
        return self.constant(operand)

    def constant(self, constant: Any) -> Value:
        """See `et.constant()`."""
        if type(constant) is int:
            return self.record(constants_of(kind_of((), torch.int64, self.device), "integer"), [], constant)
        # A tensor that is passed again is the same constant. Keeping it keeps its id.
        known = self._constant_values.get(id(constant))
        if known is not None:
            return known
        tensor = as_constant(constant)
        kind = kind_of(tensor.shape, tensor.dtype, self.device)
        value = self.record(constants_of(kind, "object"), [], len(self._constants))
        self._constants.append(tensor)
        if tensor is constant:
            self._constant_values[id(tensor)] = value
        return value

    def keep(self, tensor: torch.Tensor) -> None:
        """A parameter that recorded calls use lives until they have run. For callees."""
        self._kept[id(tensor)] = tensor

    # --- running -----------------------------------------------------------------------------------------------------

    def run(self, *values: Any) -> Any:
        """Runs everything that is recorded and has not run; gives the tensors of these Values.

        An argument can be a Value, or a tuple, list or dict with Values in it. Of several arguments, a tuple.
        """
        self._run_pending()
        leaves: list[Value] = []
        structure = take_apart(values, is_value, leaves)
        tensors = structure.build([self.tensor_of(value) for value in leaves])
        return tensors[0] if len(values) == 1 else tensors if values else None

    def _run_pending(self) -> None:
        if self._recording.done == len(self._recording):
            return
        if self._failed:
            raise no_such_run()
        began = time.perf_counter()
        before = _torch.current()
        plan = self._recording.plan(self.strategy)
        planned = time.perf_counter()
        _torch.enter(None, None)
        try:
            steps = plan.steps
            joined = Joined(self._recording, plan, steps, self._constants, self.device)
            Execution(self._recording, plan, steps, self._blocks, joined).run()
        except BaseException:
            self._failed = True
            raise
        finally:
            _torch.enter(before, before._current_recording() if before is not None else None)
        self._statistics.add_run(plan, self._recording, planned - began, time.perf_counter() - planned)
        self._explanation.add_run(plan, steps, self._recording)
        self._recording.set_done(plan)

    def tensor_of(self, value: Value) -> torch.Tensor:
        """The tensor of a Value of this batch. Runs what has not run."""
        if value._batch is not self:
            raise UsageError("the Value belongs to another batch")
        if value._node >= self._recording.done:
            self._run_pending()
        block, row = self._recording.place_of(value)
        return self._blocks.row(block, value._result, row)

    # --- telling -----------------------------------------------------------------------------------------------------

    def statistics(self) -> Statistics:
        """Counts and times of what has run so far."""
        return self._statistics

    def explain(self) -> str:
        """What ran together, and what kept the rest apart, as text."""
        return self._explanation.text()

    def page_text(self, title: str = "What ran together") -> str:
        """The steps as a page of HTML that loads nothing. A notebook shows it for a batch."""
        return page.page_text(self._explanation, title)

    def write_page(self, file: str | os.PathLike, title: str = "What ran together") -> None:
        """Writes page_text() into a file."""
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(self.page_text(title))

    def _repr_html_(self) -> str:
        return page.part_of_page(self._explanation)


def batch(strategy: str = "frontier", *, device: torch.device | str | None = None) -> Batch:
    """Records the calls of cells in its block, and runs them together at the end, or when a value is asked for.

    strategy: how calls are grouped into steps: "frontier" (the fewest steps), "agenda", "depth", or "none"
    device: where constants go; the cells' parameters must be there. PyTorch's default device, if none is named

    >>> import torch, espalier.torch as et
    >>> double = et.cell(lambda x: 2 * x, name="double")
    >>> with et.batch() as b:
    ...     some = [double(et.constant(number)) for number in (1., 2., 3.)]
    >>> [one.item() for one in some]
    [2.0, 4.0, 6.0]
    >>> b.statistics().steps
    2
    """
    return Batch(strategy, device)


class _Constant(Callee):
    """`et.constant`: numbers are recorded without a line of Python."""

    def __init__(self):
        self._begin(self.__class__, "constant", check=False)
        self._be_constant()

    def _call(self, constant):
        if is_value(constant):
            return constant
        current = _torch.current()
        if current is None:
            raise UsageError("et.constant() is called outside of `with et.batch()` or `et.unbatched()`")
        return current.constant(constant)


constant = _Constant()
"""A number, a list of numbers, an array or a tensor as a Value of one instance: data, where a Python argument of a cell
must be equal for calls to run together."""
