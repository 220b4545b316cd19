"""Sums, means and maxima over any number of Values. Calls run together whatever their numbers are."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from espalier import UsageError
from espalier._core import _torch

from espalier.torch.cells import is_value
from espalier.torch.kinds import Kind, kind_number
from espalier.torch.modes import Mode, current_mode
from espalier.torch.signatures import Signature

_signatures: dict[tuple, Signature] = {}


class Lists:
    """The rows of all lists of a step: `length` each, or row i belongs to the list `owner[i]`."""

    def __init__(self, rows: torch.Tensor, count: int, length: int, owner: torch.Tensor | None):
        self.rows, self.count, self.length, self.owner = rows, count, length, owner

    def stacked(self) -> torch.Tensor:
        """[lists, length, ...] where all are equally long."""
        return self.rows.view(self.count, self.length, *self.rows.shape[1:])

    def added(self) -> torch.Tensor:
        if self.owner is None:
            return self.stacked().sum(1, dtype=self.rows.dtype)
        return self.rows.new_zeros(self.count, *self.rows.shape[1:]).index_add(0, self.owner, self.rows)

    def averaged(self) -> torch.Tensor:
        if self.owner is None:
            return self.stacked().mean(1)
        lengths = torch.bincount(self.owner, minlength=self.count).to(self.rows.dtype)
        return self.added() / lengths.view(-1, *[1] * (self.rows.dim() - 1))

    def largest(self) -> torch.Tensor:
        if self.owner is None:
            return self.stacked().amax(1)
        index = self.owner.view(-1, *[1] * (self.rows.dim() - 1)).expand_as(self.rows)
        empty = self.rows.new_zeros(self.count, *self.rows.shape[1:])
        return empty.scatter_reduce(0, index, self.rows, "amax", include_self=False)


def _record(name: str, call: Callable[[Lists], torch.Tensor], values: Iterable):
    batch = _torch.current()
    values = list(values)
    if batch is None:
        raise UsageError(f"et.{name}() is called outside of `with et.batch()` or `et.unbatched()`")
    if not values:
        raise UsageError(f"et.{name}() of no Values has no shape")
    for value in values:
        if not is_value(value):
            values = [batch.value_of(value, name) for value in values]
            break
    kind = values[0]._kind
    for i, value in enumerate(values):
        if value._kind != kind:
            raise UsageError(f"et.{name}(): Values 0 and {i} of the list differ: {kind_number(kind)} and "
                             f"{kind_number(value._kind)}")
    mode = current_mode()
    signature = _signatures.get((name, mode, kind))
    if signature is None:
        signature = _signatures[name, mode, kind] = _new_signature(name, call, mode, kind_number(kind))
    return batch.record(signature, values)


def _new_signature(name: str, call: Callable, mode: Mode, kind: Kind) -> Signature:
    if name == "mean" and not kind.dtype.is_floating_point and not kind.dtype.is_complex:
        raise UsageError(f"et.mean() of {kind.dtype} is not of that type; convert the Values first")
    return Signature(name, lambda operands: [call(operands[0])], mode, (kind,), [kind], any_number=True)


def sum(values: Iterable):
    """The sum of any number of Values of one shape.

    >>> import torch, espalier.torch as et
    >>> with et.batch() as b:
    ...     one, two = et.constant(1.), et.constant(2.)
    ...     three = et.sum([one, two])
    >>> three.value()
    tensor(3.)
    """
    return _record("sum", Lists.added, values)


def mean(values: Iterable):
    """The mean of any number of Values of one shape."""
    return _record("mean", Lists.averaged, values)


def max(values: Iterable):
    """The elementwise maximum of any number of Values of one shape. The gradient of equal ones is divided."""
    return _record("max", Lists.largest, values)
