"""PyTorch's own functions and operators on Values: recorded like calls of a cell."""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable
from typing import Any

import torch
from espalier import UsageError
from espalier._core import _torch

from espalier.torch.cells import Callee, is_value
from espalier.torch.kinds import Kind, kind_number
from espalier.torch.structure import Structure, take_apart

# Functions of one element at a time: over rows of equal shapes they are what they are for one instance.
_ELEMENTWISE = {
    torch.add, torch.sub, torch.mul, torch.true_divide, torch.div, torch.neg, torch.exp, torch.log, torch.sqrt,
    torch.tanh, torch.sigmoid, torch.relu, torch.sin, torch.cos, torch.abs, torch.square, torch.pow, torch.maximum,
    torch.minimum, torch.Tensor.add, torch.Tensor.sub, torch.Tensor.mul, torch.Tensor.div, torch.Tensor.neg,
    torch.Tensor.exp, torch.Tensor.log, torch.Tensor.sqrt, torch.Tensor.tanh, torch.Tensor.sigmoid, torch.Tensor.relu,
    torch.Tensor.__rsub__, torch.Tensor.__rtruediv__, torch.nn.functional.relu, torch.nn.functional.gelu,
    torch.nn.functional.silu, torch.nn.functional.softplus,
}

# Attributes that are functions of the tensor.
_VIEWS = {name: operator.attrgetter(name) for name in ("T", "mT", "H", "mH", "real", "imag")}

# Of two operands: one may be a Python number.
_ARITHMETIC = {torch.add, torch.sub, torch.mul, torch.true_divide, torch.Tensor.__rsub__, torch.Tensor.__rtruediv__,
               torch.Tensor.__radd__, torch.Tensor.__rmul__}
# So many different numbers are Python arguments of an operation on values of a kind; others are data.
_FEW_NUMBERS = 8


class _Shared:
    """A parameter among the arguments of an operation: one for all rows. Only batches keep it: operations are global."""

    def __init__(self, tensor: torch.Tensor):
        self.tensor = weakref.ref(tensor)
        self._hash = id(tensor)
        if (batch := _torch.current()) is not None:
            batch.keep(tensor)

    def __hash__(self):
        return self._hash

    def __eq__(self, other):
        return self is other or isinstance(other, _Shared) and self.tensor() is other.tensor() is not None


class Operation(Callee):
    """One of PyTorch's functions, written for one instance; torch.func.vmap gives the function over rows."""

    def __init__(self, function: Callable):
        self._begin(function, getattr(function, "__name__", "operation").strip("_"), check=False)
        self._numbers: dict[tuple[int, int], set[float]] = {}

    def _call(self, *args, **kwargs):
        if self._function in _ARITHMETIC and len(args) == 2 and not kwargs:
            args = self._numbers_as_data(*args)
        return super()._call(*_share(args), **_share(kwargs))

    def _numbers_as_data(self, one, other):
        """The operands of arithmetic. A number that is always the same divides nothing; one of many is a constant."""
        for value, number, place in ((one, other, 1), (other, one, 0)):
            if not is_value(value) or type(number) not in (int, float) or not value.dtype.is_floating_point:
                continue
            seen = self._numbers.setdefault((value._kind, place), set())
            if number in seen or len(seen) < _FEW_NUMBERS:
                seen.add(number)
                break
            constant = value._batch.constant(torch.tensor(number, dtype=value.dtype))
            return (value, constant) if place else (constant, value)
        return one, other

    def _rows_call(self, structure: Structure, kinds: tuple[Kind, ...]) -> Callable[[list], Any]:
        function = self._function

        def one(*operands):
            args, kwargs = _unshare(structure.build(list(operands)))
            return function(*args, **kwargs)

        shapes = {kind.shape for kind in kinds}
        if function in _ELEMENTWISE and len(shapes) == 1:
            return lambda operands: one(*operands)
        if function in _ARITHMETIC and len(shapes) == 2 and () in shapes and len({kind.dtype for kind in kinds}) == 1:
            rank = max(len(shape) for shape in shapes)
            return lambda operands: one(*(rows.view(-1, *[1] * rank) if rows.dim() == 1 else rows
                                          for rows in operands))
        over_rows = torch.func.vmap(one, randomness="different")
        return lambda operands: over_rows(*operands)


def _share(tree):
    if isinstance(tree, torch.nn.Parameter):
        return _Shared(tree)
    if isinstance(tree, dict):
        return {key: _share(value) for key, value in tree.items()}
    return type(tree)(map(_share, tree)) if type(tree) in (tuple, list) else tree


def _unshare(tree):
    if isinstance(tree, _Shared):
        return tree.tensor()
    if isinstance(tree, dict):
        return {key: _unshare(value) for key, value in tree.items()}
    return type(tree)(map(_unshare, tree)) if type(tree) in (tuple, list) else tree


_operations: dict[Callable, Operation] = {}


def operation(function: Callable) -> Operation:
    """The one Operation of a function."""
    found = _operations.get(function)
    if found is None:
        name = getattr(function, "__name__", "")
        if name.endswith("_") and not name.endswith("__") or name in ("__setitem__", "__iadd__", "__imul__"):
            raise UsageError(f"{name} changes its argument in place; a Value can be read by many calls")
        found = _operations[function] = Operation(function)
    return found


class Value(_torch.Value):
    """A result of a recorded call, for one instance. It can be an argument of cells and of PyTorch's functions.

    Its numbers are known after the batch has run, which value() sees to.
    """

    __slots__ = ()
    __hash__ = object.__hash__

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return operation(function)(*args, **(kwargs or {}))

    def value(self) -> torch.Tensor:
        """The tensor. Runs what is recorded, unless that has run."""
        return self._batch.tensor_of(self)

    @property
    def shape(self) -> torch.Size:
        return torch.Size(_kind(self).shape)

    @property
    def dtype(self) -> torch.dtype:
        return _kind(self).dtype

    @property
    def device(self) -> torch.device:
        return _kind(self).device

    @property
    def ndim(self) -> int:
        return len(_kind(self).shape)

    def dim(self) -> int:
        return self.ndim

    def size(self, dim: int | None = None):
        return self.shape if dim is None else self.shape[dim]

    def numel(self) -> int:
        return self.shape.numel()

    def item(self):
        return self.value().item()

    def tolist(self):
        return self.value().tolist()

    def numpy(self, *, force: bool = False):
        return self.value().numpy(force=force)

    def __array__(self, dtype=None, copy=None):
        array = self.value().numpy(force=True)
        return array if dtype is None else array.astype(dtype)

    def __bool__(self):
        return bool(self.value())

    def __float__(self):
        return float(self.value())

    def __int__(self):
        return int(self.value())

    def __index__(self):
        return self.value().__index__()

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of a Value of one number")
        return self.shape[0]

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def __await__(self):
        return (yield self)

    def __getattr__(self, name: str):
        if name in _VIEWS:
            return operation(_VIEWS[name])(self)
        function = getattr(torch.Tensor, name, None)
        if function is None or name.startswith("__") or not callable(function):
            raise AttributeError(f"a Value has no attribute {name!r}; value() gives its tensor")
        return lambda *args, **kwargs: operation(function)(self, *args, **kwargs)

    def __repr__(self):
        return f"<Value {_kind(self)}, node {self._node}>"

    def __reduce_ex__(self, protocol):
        raise TypeError("a Value belongs to its batch and cannot be copied or pickled; value() gives its tensor")


def _kind(value: Value) -> Kind:
    return kind_number(value._kind)


def _operator(function: Callable) -> Callable:
    found = operation(function)
    return lambda self, *others: found(self, *others)


def _reflected(function: Callable, with_number: Callable) -> Callable:
    """The operator whose left operand is a tensor, or a Python number."""
    found, found_with_number = operation(function), operation(with_number)
    return lambda self, other: (found(other, self) if isinstance(other, torch.Tensor)
                                else found_with_number(self, other))


def _add_operators() -> None:
    for name, function in {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "truediv": torch.true_divide,
                           "pow": torch.pow, "matmul": torch.matmul}.items():
        setattr(Value, f"__{name}__", _operator(function))
        setattr(Value, f"__r{name}__", _reflected(function, getattr(torch.Tensor, f"__r{name}__")))
    for name, function in {"neg": torch.neg, "abs": torch.abs, "lt": torch.lt, "le": torch.le, "gt": torch.gt,
                           "ge": torch.ge, "eq": torch.eq, "ne": torch.ne, "getitem": torch.Tensor.__getitem__,
                           "invert": torch.bitwise_not}.items():
        setattr(Value, f"__{name}__", _operator(function))


_add_operators()
_torch.value_type(Value)
