"""Arguments and results with tensors in them: taken apart into tensors and a hashable rest, and put together again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from espalier import UsageError


class Structure:
    """Nested tuples, lists and dicts, with holes where tensors were. Equal structures have equal keys."""

    def __init__(self, build: Callable[[list], Any], key: tuple):
        self._build = build
        self.key = key

    def build(self, leaves: list) -> Any:
        """The structure with these leaves in its holes."""
        return self._build(leaves)


def take_apart(tree: Any, is_leaf: Callable[[Any], bool], leaves: list) -> Structure:
    """Appends the leaves of a tree; everything else stays in the structure and must be hashable."""
    if is_leaf(tree):
        place = len(leaves)
        leaves.append(tree)
        return Structure(lambda values: values[place], ("leaf",))
    if isinstance(tree, dict):
        parts = {key: take_apart(value, is_leaf, leaves) for key, value in tree.items()}
        return Structure(lambda values: type(tree)((key, part.build(values)) for key, part in parts.items()),
                         (type(tree), *((key, part.key) for key, part in parts.items())))
    if isinstance(tree, (tuple, list)):
        items = [take_apart(item, is_leaf, leaves) for item in tree]
        make = type(tree)._make if hasattr(tree, "_make") else type(tree)
        return Structure(lambda values: make([item.build(values) for item in items]),
                         (type(tree), *(item.key for item in items)))
    return Structure(lambda values: tree, static_key(tree))


def static_key(value: Any) -> tuple:
    """Equal for Python arguments that may share a step. 1, 1.0 and True differ."""
    if isinstance(value, slice):
        return (slice, static_key(value.start), static_key(value.stop), static_key(value.step))
    try:
        hash(value)
    except TypeError:
        raise UsageError(f"A Python argument of a cell must be hashable, because calls run together only if their "
                         f"arguments are equal; {type(value).__name__} is not") from None
    return (type(value), value)
