"""Write a neural network for one tree, graph or sentence. Espalier runs it over many of them at once.

>>> import espalier as esp
>>> model = esp.Model()
>>> words = esp.nn.Embedding(model / "words", 10, 4)
>>> cell = esp.nn.BinaryTreeLstm(model / "cell", 4, 8)
>>> def encode(tree):  # written for one tree
...     return cell.leaf(words(tree)) if isinstance(tree, int) else cell(encode(tree[0]), encode(tree[1]))
>>> with esp.Graph() as g:
...     states = [encode(tree).h for tree in (1, (2, 3), ((4, 5), 6))]
>>> esp.stack(states).value().shape  # runs the three trees together
(3, 8)
"""

import os as _os

from espalier import _core
from espalier._core import *  # noqa: F403
from espalier._core import op_names
from espalier import init, nn, optim
from espalier.cells import cell

__version__ = "0.1.0"

Operand = "Expr | Parameter | float | numpy.typing.ArrayLike"
"""What ops take: an Expr, a parameter, a number, or an array, which becomes a leaf."""

_core.set_package_folder(_os.path.dirname(__file__) + _os.sep)
del _os
