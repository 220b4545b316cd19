"""Layers: they make their parameters in a scope of a model.

>>> import espalier as esp
>>> model = esp.Model(seed=1)
>>> classify = esp.nn.Linear(model / "classify", 3, 2)
>>> with esp.Graph() as g:
...     y = classify(g.input([1.0, 2.0, 3.0]))
>>> y.shape
(2,)
"""

from espalier._core.layers import *  # noqa: F403
