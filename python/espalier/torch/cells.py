"""Cells: functions and modules over rows that can be called for one instance while a batch records."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import torch
from espalier import UsageError
from espalier._core import _torch

from espalier.torch import shapes
from espalier.torch.kinds import Kind, kind_number, kind_of, kind_of_rows
from espalier.torch.modes import Mode, current_mode
from espalier.torch.row_mixing import RowCheck
from espalier.torch.signatures import Signature
from espalier.torch.structure import Structure, take_apart

_MOST_SIGNATURES = 4096  # of one callee, that are remembered

_inside = threading.local()  # `calls`: how many calls of cells this thread is inside of


def is_value(argument: Any) -> bool:
    return isinstance(argument, _torch.Value)


def _is_operand(argument: Any) -> bool:
    return isinstance(argument, (_torch.Value, torch.Tensor))


def _is_tensor(argument: Any) -> bool:
    return isinstance(argument, torch.Tensor)


def inside_a_cell() -> bool:
    return getattr(_inside, "calls", 0) > 0


class Callee(_torch.Callee):
    """What all callees share: finding the signature of a call, and recording it.

    The base class records calls of Values alone whose signature it knows; all others come to `_call`.
    """

    def _begin(self, function: Callable, name: str, *, check: bool = True) -> None:
        # Not __init__: modules have one of their own.
        self.__dict__.update(_function=function, _name=name, _checks_rows=check, _check=None, _signatures={})

    @property
    def cell_name(self) -> str:
        """How statistics and errors name this cell."""
        return self._name

    def rows(self, *args, **kwargs):
        """Calls the function or module itself: tensors of rows in, tensors of rows out."""
        return self._function(*args, **kwargs)

    def _call(self, *args, **kwargs):
        if inside_a_cell():
            return self._function(*args, **kwargs)
        batch = _torch.current()
        if batch is None:
            raise UsageError(f"cell {self._name!r} is called outside of `with et.batch()` or `et.unbatched()`; "
                             "to call it with rows, use its method rows()")
        leaves: list = []
        structure = take_apart((args, kwargs), _is_operand, leaves)
        values = [batch.value_of(leaf, self._name) for leaf in leaves]
        kinds = tuple(kind_number(value._kind) for value in values)
        mode = current_mode()
        key = (mode, structure.key, kinds)
        signature = self._signatures.get(key)
        if signature is None:
            if len(self._signatures) >= _MOST_SIGNATURES:  # Python arguments that are data
                self._signatures.clear()
                self._forget()
            signature = self._signatures[key] = self._new_signature(mode, structure, kinds)
        if not mode.is_autocast and not kwargs and len(args) == len(values) and all(map(is_value, args)):
            self._learn(mode.number, tuple(kind.number for kind in kinds), signature)
        return batch.record(signature, values)

    def _rows_call(self, structure: Structure, kinds: tuple[Kind, ...]) -> Callable[[list], Any]:
        """The call of all rows, as the function's own answer."""
        function = self._function

        def call(operands):
            args, kwargs = structure.build(operands)
            return function(*args, **kwargs)

        return call

    def _new_signature(self, mode: Mode, structure: Structure, kinds: tuple[Kind, ...]) -> Signature:
        if not kinds:
            raise UsageError(f"cell {self._name!r} is called without a tensor or Value, so it cannot know how many "
                             "rows to give")
        call = self._rows_call(structure, kinds)
        if self._checks_rows and self._check is None:
            self.__dict__["_check"] = RowCheck(self._name, self._function)
        with mode.entered(), inside():
            answer = shapes.infer(call, kinds, self._check.modules if self._check is not None else ())
        leaves: list[torch.Tensor] = []
        results = take_apart(answer, _is_tensor, leaves)
        self._check_results(leaves)
        plain = results.key == ("leaf",) or results.key == (tuple, *[("leaf",)] * len(leaves)) and len(leaves) > 1

        def call_rows(operands):
            tensors: list[torch.Tensor] = []
            with inside():
                take_apart(call(operands), _is_tensor, tensors)
            return tensors

        def call_plain(operands):
            with inside():
                answer = call(operands)
            return [answer] if isinstance(answer, torch.Tensor) else answer

        return Signature(self._name, call_plain if plain else call_rows, mode, kinds, [*map(kind_of_rows, leaves)],
                         answer=None if plain else results, statics=structure.key, check=self._check)

    def _check_results(self, results: list[torch.Tensor]) -> None:
        if not results:
            raise UsageError(f"cell {self._name!r} returned no tensor")
        for result in results:
            if result.dim() == 0 or result.shape[0] != shapes.ROWS:
                raise UsageError(f"cell {self._name!r} was called with {shapes.ROWS} rows and returned shape "
                                 f"{list(result.shape)}; its first axis must be that of the rows")

    def __getstate__(self):
        state = self.__dict__.copy()
        state.update(_signatures={}, _check=None)
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)

    def __reduce_ex__(self, protocol):
        return _new_of, (type(self),), self.__getstate__()


def _new_of(kind: type):
    return kind.__new__(kind)


class inside:  # noqa: N801: a context manager, used like a function
    """While a cell runs, calls of cells are plain calls with rows."""

    __slots__ = ("_before",)

    def __enter__(self):
        self._before = getattr(_inside, "calls", 0)
        _inside.calls = self._before + 1

    def __exit__(self, *_):
        _inside.calls = self._before


class Cell(Callee):
    """A function over rows, called for one instance. As a method, it is bound like any function."""

    def __init__(self, function: Callable, name: str | None = None):
        self._begin(function, name or getattr(function, "__name__", type(function).__name__))
        functools.update_wrapper(self, getattr(function, "_torchdynamo_orig_callable", function), updated=())

    def __set_name__(self, owner, name):
        self.__dict__["_attribute"] = name

    def __get__(self, owner, kind=None):
        if owner is None:
            return self
        bound = Cell(functools.partial(self._function, owner) if not hasattr(self._function, "__get__")
                     else self._function.__get__(owner, kind), self._name)
        if hasattr(owner, "__dict__") and "_attribute" in self.__dict__:
            bound.__dict__["_owner"] = (owner, self._attribute)
            owner.__dict__[self._attribute] = bound
        return bound

    def __reduce_ex__(self, protocol):
        if "_owner" in self.__dict__:
            return getattr, self._owner
        return super().__reduce_ex__(protocol)


class CellModule(Callee, torch.nn.Module):
    """A module over rows, called for one instance.

    It has no parameters and submodules of its own: it shows those of the module, under the same names, and follows its
    mode of training. So it can take the module's place in a model whose weights were saved without it.
    """

    module: torch.nn.Module

    def __init__(self, module: torch.nn.Module, name: str | None = None):
        torch.nn.Module.__init__(self)
        self.__dict__.update(module=module, _parameters=module._parameters, _buffers=module._buffers,
                             _modules=module._modules,
                             _non_persistent_buffers_set=module._non_persistent_buffers_set)
        self._begin(module, name or type(getattr(module, "_orig_mod", module)).__name__)

    @property
    def training(self) -> bool:
        return self.module.training

    @training.setter
    def training(self, training: bool) -> None:
        if module := self.__dict__.get("module"):  # not while Module.__init__ runs
            module.training = training

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        self.module._save_to_state_dict(destination, prefix, keep_vars)

    def _load_from_state_dict(self, *args):
        self.module._load_from_state_dict(*args)

    def __getattr__(self, name: str):
        try:
            return torch.nn.Module.__getattr__(self, name)
        except AttributeError:
            if "module" not in self.__dict__:
                raise
        return getattr(self.module, name)

    def register_forward_hook(self, *args, **kwargs):
        return self.module.register_forward_hook(*args, **kwargs)

    def register_forward_pre_hook(self, *args, **kwargs):
        return self.module.register_forward_pre_hook(*args, **kwargs)

    def register_full_backward_hook(self, *args, **kwargs):
        return self.module.register_full_backward_hook(*args, **kwargs)

    def __repr__(self):
        return f"cell of {self.module!r}"


class Lookup(CellModule):
    """Rows of a table: called with a Python integer, which is data and not part of the signature."""

    def __init__(self, table: torch.nn.Module, name: str | None = None):
        super().__init__(table, name)
        self.__dict__["_integers"] = {}

    def _call(self, *args, **kwargs):
        batch = _torch.current()
        if inside_a_cell() or batch is None or kwargs or len(args) != 1 or type(args[0]) is not int:
            return super()._call(*args, **kwargs)
        mode = current_mode()
        device = batch.device
        signature = self._integers.get((mode, device))
        if signature is None:
            kinds = (kind_of((), torch.int64, device),)
            structure = take_apart((args, {}), lambda leaf: leaf is args[0], [])  # the integer stands for rows
            made = self._new_signature(mode, structure, kinds)
            signature = Signature(made.name, made.call, mode, (), made.results, field="integer", check=self._check)
            self._integers[mode, device] = signature
        if mode.number == 0 and device == torch.get_default_device():
            self._look_up(signature)
        return batch.record(signature, [], args[0])

    def __getstate__(self):
        return {**super().__getstate__(), "_integers": {}}


class _Table(torch.nn.Module):
    """A tensor as a module whose rows are looked up."""

    def __init__(self, weight: torch.Tensor):
        super().__init__()
        self.weight = weight

    def forward(self, rows):
        return torch.nn.functional.embedding(rows, self.weight)


def cell(function: Callable | None = None, *, name: str | None = None):
    """Makes a function or a module over rows callable for one instance.

    The function takes tensors whose first axis is that of the rows, and returns tensors, or tuples, lists and dicts of
    tensors, with that axis. Inside ``with et.batch()`` it is called without the axis, and gives Values. Tensors and
    Values among the arguments are the operands of the call. All other arguments are Python arguments: calls run
    together only if theirs are equal.

    >>> import torch, espalier.torch as et
    >>> @et.cell
    ... def scaled(x, y):
    ...     return x * y.sum(1, keepdim=True)
    >>> with et.batch() as b:
    ...     answer = scaled(torch.ones(2), torch.tensor([1., 2., 3.]))
    >>> answer.value()
    tensor([6., 6.])
    """
    if function is None:
        return functools.partial(cell, name=name)
    if isinstance(function, Callee):
        return function
    if isinstance(function, torch.nn.Module):
        return CellModule(function, name)
    if not callable(function):
        raise UsageError(f"a cell is made of a function or a module, not of {type(function).__name__}")
    return Cell(function, name)


def lookup(table: torch.nn.Module | torch.Tensor, *, name: str | None = None) -> Lookup:
    """Makes an embedding, or a tensor of rows, callable with a Python integer for one instance.

    >>> import torch, espalier.torch as et
    >>> words = et.lookup(torch.nn.Embedding(10, 4))
    >>> with et.batch() as b:
    ...     x = words(7)
    >>> x.value().shape
    torch.Size([4])
    """
    if isinstance(table, torch.Tensor):
        table = _Table(table)
    return Lookup(table, name)
