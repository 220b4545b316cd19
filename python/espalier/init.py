"""How the first numbers of a parameter are chosen.

>>> import espalier as esp
>>> model = esp.Model(seed=1)
>>> model.add("gain", 3, init=esp.init.constant(2)).value.tolist()
[2.0, 2.0, 2.0]
"""

from espalier._core.initializers import *  # noqa: F403
