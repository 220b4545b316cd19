"""Models that need only your data: treebanks, tagged sentences, lattices, pairs of sentences, and any JSON lines.

>>> import espalier as esp
>>> [name for name in esp.models.names() if "tag" in name]
['tagger']
>>> model = esp.models.make("tagger", hidden=32)
>>> model.settings["hidden"]
32

docs/models.md describes them and the data they read.
"""

import dataclasses as _dataclasses
import json as _json
import os as _os

from espalier import _core


def names():
    """The names of the models, and what each does, as a dict."""
    return dict(_core.runs.model_names)


def _plain(record):
    """A record as what JSON can say."""
    if _dataclasses.is_dataclass(record):
        return _dataclasses.asdict(record)
    return record.tolist()  # NumPy's numbers and arrays


class StandardModel:
    """One of the standard models, with its settings. make() and load() give them."""

    def __init__(self, model):
        self._model = model

    @property
    def name(self):
        """Its name, such as "sentiment"."""
        return self._model.name()

    @property
    def settings(self):
        """The settings, as a dict."""
        return _json.loads(self._model.settings())

    @property
    def weights(self):
        """The weights, as an espalier.Model. Only after train() or of load()."""
        return self._model.weights()

    def train(self, data, *, folder="", start="begin", on_epoch=None, **settings):
        """Reads the data (a file, or a folder of parts), makes the network, and trains it.

        folder: where the run is kept; load() reads it. The other arguments are those of espalier.Trainer.
        """
        options = _json.dumps(settings), _os.fspath(folder), start, on_epoch
        return self._model.train(_os.fspath(data), *options)

    def evaluate(self, data=None, split="test"):
        """The metrics of a file or folder, or, without one, of a split of the data that train() read."""
        if data is not None:
            self._model.read_test(_os.fspath(data))
        return self._model.evaluate(split)

    def predict(self, records):
        """Answers to records: a list of dicts or dataclasses, as JSON lines have them, or a path. A dict per record."""
        if isinstance(records, str | _os.PathLike):
            answers = self._model.predict(_os.fspath(records), False, False)
        else:
            text = "\n".join(_json.dumps(record, default=_plain) for record in records)
            answers = self._model.predict(text, True, True)
        return [_json.loads(answer) for answer in answers]

    def __repr__(self):
        return f'<espalier.models: "{self.name}">'


def make(name, **settings):
    """A model with these settings; those of `espalier train NAME --help` are the names."""
    model = StandardModel(_core.runs.make_model(name))
    model._model.assign(_json.dumps(settings))
    return model


def load(folder):
    """The model of a folder of a run, with its best weights."""
    return StandardModel(_core.runs.load_model(_os.fspath(folder)))
