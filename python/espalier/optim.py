"""Optimizers and schedules of the learning rate.

>>> import espalier as esp
>>> model = esp.Model(seed=1)
>>> x = model.add("x", 1, init=5.0)
>>> sgd = esp.optim.Sgd(model, learning_rate=0.1)
>>> for _ in range(100):
...     with esp.Graph():
...         loss = esp.sum(esp.square(x - 3.0))
...         loss.backward()
...         sgd.step()
>>> round(float(x.value[0]), 3)
3.0
"""

from espalier._core.optimizers import *  # noqa: F403
