"""The twin of a batch: the same code, every call by itself and at once. For checking, and for finding a mistake."""

from __future__ import annotations

from typing import Any

import torch
from espalier import UsageError
from espalier._core import _torch

from espalier.torch.batches import Batch, constants_of
from espalier.torch.joined import as_constant
from espalier.torch.kinds import kind_of
from espalier.torch.lists import Lists
from espalier.torch.operations import Value
from espalier.torch.signatures import Signature


class Unbatched(Batch):
    """While its block is entered, each call of a cell runs at once, as one row. Made by `et.unbatched()`.

    It shares neither schedules nor gathers with Batch: an operand is the tensor that an earlier call returned.
    """

    def __init__(self, device: torch.device | str | None = None):
        super().__init__("none", device)
        self._results: list[list[torch.Tensor]] = []  # of each node

    def _current_recording(self):
        return None  # so that every call comes to record()

    def record(self, signature: Signature, values: list, field: int = 0):
        if not self._before:
            raise UsageError("the batch has ended")
        operands = [self.tensor_of(value).unsqueeze(0) for value in values]
        if signature.field:
            operands = [torch.tensor([field], device=self.device)]
        _torch.enter(None, None)
        try:
            with signature.mode.entered():
                if signature.any_number:
                    results = signature.call([Lists(torch.cat(operands), 1, len(operands), None)])
                else:
                    results = signature.run(operands, 1)
        finally:
            _torch.enter(self, None)
        return self._keep(signature, [result[0] for result in results])

    def constant(self, constant: Any) -> Value:
        tensor = as_constant(constant).to(self.device)
        return self._keep(constants_of(kind_of(tensor.shape, tensor.dtype, self.device), "object"), [tensor])

    def _keep(self, signature: Signature, results: list[torch.Tensor]):
        self._results.append(results)
        self._statistics.nodes += 1
        self._statistics.steps += 1
        return self._recording.record(signature, [])

    def _run_pending(self) -> None:
        pass  # everything has run

    def tensor_of(self, value: Value) -> torch.Tensor:
        if value._batch is not self:
            raise UsageError("the Value belongs to another batch")
        return self._results[value._node][value._result]


def unbatched(*, device: torch.device | str | None = None) -> Unbatched:
    """Runs each call of a cell in its block at once, as one row: what `et.batch()` computes, one by one.

    >>> import torch, espalier.torch as et
    >>> double = et.cell(lambda x: 2 * x, name="double")
    >>> with et.unbatched():
    ...     two = double(et.constant(1.))
    >>> two.value()
    tensor(2.)
    """
    return Unbatched(device)
