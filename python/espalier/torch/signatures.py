"""Signatures: what must be equal for two calls to run as one call, and how that call is made."""

from __future__ import annotations

import functools
from collections.abc import Callable

import torch
from espalier import UsageError
from espalier._core import _torch

from espalier.torch.kinds import Kind
from espalier.torch.modes import Mode
from espalier.torch.structure import Structure


class Signature(_torch.Signature):
    """Calls of one callee with operands of these kinds, equal Python arguments and one mode.

    `call` takes the rows of all operands, one tensor each, and gives a list of tensors of rows.
    """

    def __init__(self, name: str, call: Callable, mode: Mode, inputs: tuple[Kind, ...], results: list[Kind], *,
                 any_number: bool = False, field: str = "", answer: Structure | None = None, statics: tuple = (),
                 check: Callable[[], None] | None = None):
        super().__init__([kind.number for kind in inputs], [kind.number for kind in results], any_number, field,
                         answer.build if answer is not None else None)
        self.name = name
        self.call = call
        self.mode = mode
        self.inputs = inputs
        self.results = results
        self.any_number = any_number
        self.field = field
        self.statics = statics
        self.check = check

    @functools.cached_property
    def text(self) -> str:
        """The name, the operands and the results."""
        inputs = ", ".join(map(str, self.inputs)) + ("..." if self.any_number else "")
        results = ", ".join(map(str, self.results))
        return f"{self.name}({inputs}) -> {results}"

    def run(self, operands: list[torch.Tensor], rows: int) -> list[torch.Tensor]:
        """All rows by one call, checked for what the call could have done to the rows."""
        if self.check is not None:
            self.check()
        before = [_version(operand) for operand in operands]
        results = self.call(operands)
        if len(results) != len(self.results):
            raise UsageError(f"cell {self.name!r} gave {len(results)} tensors, and {len(self.results)} when its "
                             "shapes were found")
        for result, kind in zip(results, self.results):
            if result.shape != kind.rows(rows) or result.dtype is not kind.dtype:
                raise UsageError(f"cell {self.name!r} gave {result.dtype} of shape {list(result.shape)} for {rows} "
                                 f"rows; {kind.dtype} of shape {list(kind.rows(rows))} was expected from its shapes")
        if before != [_version(operand) for operand in operands]:
            raise UsageError(f"cell {self.name!r} changes an argument in place; other calls read the same rows")
        return results


def _version(tensor: torch.Tensor) -> int:
    """Counts changes in place; tensors of inference mode do not."""
    return 0 if tensor.is_inference() else tensor._version
