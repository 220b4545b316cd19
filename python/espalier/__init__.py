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
from espalier._core import op_names as op_names
from espalier.cells import cell as cell
from espalier.errors import CellError as CellError
from espalier.errors import DataError as DataError
from espalier.errors import Error as Error
from espalier.errors import InternalError as InternalError
from espalier.errors import ResourceError as ResourceError
from espalier.errors import UsageError as UsageError
from espalier.training import Trainer as Trainer
from espalier import blocks as blocks, init as init, models as models, nn as nn, optim as optim  # isort: skip

__version__ = "0.1.0"


def _await(self):
    """``await x`` in an instance of run_batched gives the value of x."""
    return (yield self)


_core.Expr.__await__ = _core.Choice.__await__ = _await
_core.set_package_folder(_os.path.dirname(__file__) + _os.sep)
del initializers, layers, optimizers, runs, wiring  # noqa: F821: from _core; users see init, nn, optim and models
