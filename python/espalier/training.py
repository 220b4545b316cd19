"""Trainer: a training run that can be left alone."""

import json
import os

from espalier import _core


class Trainer:
    """Trains a model on Python objects, evaluates, keeps the best weights, and goes on where it was stopped.

    model: an espalier.Model that has all its parameters
    train, held_out, test: lists of instances, which may be any objects
    output: records what the model says about an instance, and returns an Expr. It gets the instance alone, and records
        on the current graph; it is also called for evaluation (see espalier.is_training())
    label: the number of the right class of an instance; or
    target: its right number
    loss: compares the output with the instance; by default the cross entropy with the label, or the squared distance
        to the target
    classes: names of the classes
    folder: where the run is kept; without it, nothing is written
    start: "resume_or_begin", "resume", "begin" or "replace": what to do if the folder has a run
    on_epoch: gets a dict after each epoch: epoch, loss, held_out (the metrics), is_best, seconds
    settings: epochs=20, batch=32, seed=1, optimizer="adam(learning_rate=0.001, clip_norm=5)", schedule="constant",
        warmup, average_decay, metric, patience=5 (with held-out instances), batch_nodes, accumulate, checkpoint_every

    >>> import espalier as esp
    >>> model = esp.Model(seed=1)
    >>> scores = esp.nn.Linear(model / "scores", 2, 2)
    >>> data = [([1.0, 0.0], 0), ([0.0, 1.0], 1)] * 8
    >>> trainer = esp.Trainer(model, data, output=lambda x: scores(x[0]), label=lambda x: x[1],
    ...                       epochs=20, optimizer="adam(learning_rate=0.1)")
    >>> trainer.run()["ending"]
    'finished'
    >>> trainer.evaluate("train")["accuracy"]
    1.0
    """

    def __init__(self, model, train, *, output, label=None, target=None, loss=None, held_out=(), test=(), classes=(),
                 folder="", start="resume_or_begin", on_epoch=None, **settings):  # fmt: skip
        if not held_out:
            settings.setdefault("patience", 0)  # the default waits for evaluations
        self._model = model
        self._task = _core.runs.PythonTask(
            list(train), list(held_out), list(test), output, label, target, loss, list(classes)
        )
        self._options = json.dumps(settings), os.fspath(folder), start, on_epoch

    def run(self):
        """Trains until the run ends. Gives a dict: ending, message, updates, history, best_epoch, best_value.

        Afterwards the model has the best weights if there are held-out instances, else the last ones. Exceptions of the
        functions end the run; so does Ctrl-C. The last checkpoint stays.
        """
        settings, folder, start, on_epoch = self._options
        return self._task.train(self._model, settings, folder, start, on_epoch)

    def evaluate(self, split):
        """The metrics of "train", "held_out" or "test" with the weights that the model has now, and its loss."""
        return self._task.evaluate(split)
