"""Modules that mix rows: together with the rows of other calls they mean something else than alone."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator

import torch
from espalier import UsageError

_RECURRENT = (torch.nn.RNNBase, torch.nn.MultiheadAttention, torch.nn.TransformerEncoderLayer,
              torch.nn.TransformerDecoderLayer)


class RowsWarning(UserWarning):
    """A cell may mix the rows of different calls."""


def named_modules(function: Callable) -> Iterator[tuple[str, torch.nn.Module]]:
    """The modules that a callee consists of, or that a function plainly uses: its owner, what it captured, globals."""
    function = getattr(function, "_torchdynamo_orig_callable", function)
    if isinstance(function, torch.nn.Module):
        yield from function.named_modules()
        return
    if isinstance(function, functools.partial):
        yield from named_modules(function.func)
        return
    owner = getattr(function, "__self__", None)
    if isinstance(owner, torch.nn.Module):
        yield from owner.named_modules()
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    if code is None:
        return
    captured = dict(zip(code.co_freevars, getattr(function, "__closure__", None) or ()))
    for name, value in _used_names(function, code, captured):
        if isinstance(value, torch.nn.Module):
            for inner, module in value.named_modules():
                yield f"{name}.{inner}" if inner else name, module


def _used_names(function, code, captured) -> Iterator[tuple[str, object]]:
    for name, cell in captured.items():
        try:
            yield name, cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    for name in code.co_names:
        if name in function.__globals__:
            yield name, function.__globals__[name]


class RowCheck:
    """Refuses batch norm in training, whenever the cell runs; warns of modules whose first axis is not the rows'."""

    def __init__(self, name: str, function: Callable):
        self._name = name
        found = {module: inner for inner, module in named_modules(function)}
        self.modules = list(found)
        self._norms = [(inner, module) for module, inner in found.items()
                       if isinstance(module, torch.nn.modules.batchnorm._BatchNorm)]
        for module, inner in found.items():
            if isinstance(module, _RECURRENT) and not _batch_first(module):
                warnings.warn(f"cell {name!r}: {_called(inner, module)} has batch_first=False, so its first axis is "
                              "not that of the rows, and calls that run together may mix", RowsWarning, stacklevel=5)
        self()

    def __call__(self) -> None:
        for inner, module in self._norms:
            if module.training or module.running_mean is None:
                raise UsageError(f"cell {self._name!r}: {_called(inner, module)} computes statistics over rows, which "
                                 "here are the calls that happen to run together; use LayerNorm or GroupNorm, or put "
                                 "it into evaluation mode with eval()")


def _batch_first(module) -> bool:
    return getattr(module, "batch_first", None) or getattr(getattr(module, "self_attn", None), "batch_first", False)


def _called(inner: str, module) -> str:
    kind = type(module).__name__
    return f"{inner!r} ({kind})" if inner else f"its {kind}"
