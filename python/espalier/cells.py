"""cell: a function of Exprs that is recorded as one node per use."""

import functools
import types

from espalier import _core


class _MethodCell:
    """A cell that is a method: each object gets a cell of its own, with what it has captured in `self`."""

    def __init__(self, function, name, outer):
        self._function, self._name, self._outer = function, name, outer
        functools.update_wrapper(self, function)

    def __set_name__(self, owner, name):
        self._attribute = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        made = _core.Cell(types.MethodType(self._function, instance), self._name, self._outer)
        # Found before this descriptor from now on. Objects without a __dict__ get a cell per use, which is slow.
        instance.__dict__[self._attribute] = made
        return made


def _is_method(function):
    """Whether a function is written in the body of a class."""
    parts = function.__qualname__.split(".")
    return len(parts) > 1 and parts[-2] != "<locals>"


def cell(function=None, *, name=None, outer=()):
    """Makes a function of Exprs a cell: each use is recorded as one node, however many ops it is made of.

    The function is traced once for each combination of shapes, compiled, and not called again: what it captures must
    not change. Arguments and results are Exprs, States, and tuples and lists of them. It may use parameters, other
    cells, and all ops but those with a number of their own at every node (lookup, pick, losses with a label). In the
    body of a class, each object gets a cell of its own.

    name: for messages; the function's by default
    outer: the numbers of inputs that do not come from a recursion: what depends on them alone can run for all uses at
        once

    >>> import espalier as esp
    >>> @esp.cell
    ... def merge(left, right):
    ...     return esp.tanh(left + 2 * right)
    >>> with esp.Graph() as g:
    ...     y = merge(g.input([0.0]), g.input([0.0]))
    >>> len(g)
    3
    """
    if function is None:
        return functools.partial(cell, name=name, outer=outer)
    name = name or getattr(function, "__name__", "cell")
    if isinstance(function, types.FunctionType) and _is_method(function):
        return _MethodCell(function, name, list(outer))
    return _core.Cell(function, name, list(outer))
