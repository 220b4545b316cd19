"""Kinds: what a value looks like for one instance. Recording and plans see only their numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Kind:
    """The shape, without the axis of rows, the type of the elements and the device of a value."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    device: torch.device
    number: int

    def __str__(self) -> str:
        return f"{str(self.dtype).removeprefix('torch.')}[{', '.join(map(str, self.shape))}]"

    @property
    def bytes(self) -> int:
        """Of one row."""
        return math.prod(self.shape) * self.dtype.itemsize

    def rows(self, count: int) -> tuple[int, ...]:
        return (count, *self.shape)


_kinds: list[Kind] = []
_number_of: dict[tuple, int] = {}


def kind_of(shape, dtype: torch.dtype, device: torch.device) -> Kind:
    """The one Kind of these."""
    key = (tuple(shape), dtype, device)
    number = _number_of.get(key)
    if number is None:
        number = _number_of[key] = len(_kinds)
        _kinds.append(Kind(*key, number))
    return _kinds[number]


def kind_of_rows(rows: torch.Tensor) -> Kind:
    """The Kind of each row of a tensor."""
    return kind_of(rows.shape[1:], rows.dtype, rows.device)


def kind_number(number: int) -> Kind:
    return _kinds[number]
