"""Layers: they make their parameters in a scope of a model.

>>> import espalier as esp
>>> model = esp.Model(seed=1)
>>> classify = esp.nn.Linear(model / "classify", 3, 2)
>>> with esp.Graph() as g:
...     y = classify(g.input([1.0, 2.0, 3.0]))
>>> y.shape
(2,)

Layers can be pickled and copied together with their model.
"""

import typing as _typing

from espalier import _core

if _typing.TYPE_CHECKING:
    from espalier._core.layers import *  # noqa: F403


def _rebuild(kind, arguments, options):
    """A layer of a pickle: it makes its parameters in its unpickled model again, which then gets their numbers."""
    layer = kind(*arguments, **options)
    if arguments and isinstance(arguments[0], _core.Scope):
        arguments[0].model._restore()
    return layer


class _Layer:
    """What layers have in common: they remember how they were made."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self._made = arguments, options

    def __reduce__(self):
        arguments, options = self._made
        # Initial numbers are those of the model.
        return _rebuild, (type(self), arguments, {k: v for k, v in options.items() if k not in ("init", "pretrained")})


def _make(name, base):
    """The layer that users get, of the one in the extension module."""
    space = {"__doc__": base.__doc__, "__module__": __name__, "__qualname__": name}
    return type(name, (_Layer, base), space)


for _name, _base in vars(_core.layers).items():
    if isinstance(_base, type):
        globals()[_name] = _make(_name, _base)
