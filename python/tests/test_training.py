"""The Trainer over Python objects, and the standard models."""

import dataclasses
import json
import random

import numpy as np
import pytest

import espalier as esp


@dataclasses.dataclass
class Point:
    x: list
    above: int


def points(count, seed):
    rng = random.Random(seed)
    made = [[rng.uniform(-1, 1), rng.uniform(-1, 1)] for _ in range(count)]
    return [Point(x, int(x[1] > x[0])) for x in made]


class Net:
    def __init__(self):
        self.model = esp.Model(seed=1)
        self.mlp = esp.nn.Mlp(self.model / "mlp", [2, 8, 2], activation="tanh", dropout=0.1)
        self.training = set()

    def output(self, point):
        self.training.add(esp.is_training())
        return self.mlp(point.x)


def make(net, **options):
    return esp.Trainer(net.model, points(200, 1), held_out=points(50, 2), output=net.output,
                       label=lambda p: p.above, optimizer="adam(learning_rate=0.02)", **options)  # fmt: skip


def test_a_trainer_learns_reports_and_evaluates():
    net, epochs = Net(), []
    trainer = make(net, epochs=8, patience=0, on_epoch=epochs.append)
    result = trainer.run()
    assert result["ending"] == "finished"
    assert [e["epoch"] for e in epochs] == list(range(1, 9)) == [e["epoch"] for e in result["history"]]
    assert result["best_value"] > 0.9
    assert trainer.evaluate("held_out")["accuracy"] == result["best_value"]
    assert net.training == {True, False}


def test_a_run_goes_on_where_it_was_stopped(tmp_path):
    whole = Net()
    make(whole, epochs=4, patience=0, folder=tmp_path / "whole").run()

    class Stop(Exception):
        pass

    def stop(summary):
        if summary["epoch"] == 2:
            raise Stop

    half = Net()
    with pytest.raises(Stop):
        make(half, epochs=4, patience=0, folder=tmp_path / "half", on_epoch=stop).run()
    again = Net()
    make(again, epochs=4, patience=0, folder=tmp_path / "half", start="resume").run()
    for name, value in whole.model.state_dict().items():
        np.testing.assert_array_equal(again.model[name].value, value)


def test_targets_and_losses_of_ones_own():
    model = esp.Model(seed=1)
    line = esp.nn.Linear(model / "line", 1, 1)
    data = [(x / 10, 3 * x / 10 + 1) for x in range(-10, 11)]
    settings = {"epochs": 60, "optimizer": "adam(learning_rate=0.1)"}
    for kind in ({"target": lambda d: d[1]},
                 {"loss": lambda y, d: esp.sum(esp.abs(y - d[1]))}):  # fmt: skip
        esp.Trainer(model, data, output=lambda d: line([d[0]]), **kind, **settings).run()
        np.testing.assert_allclose(model["line.W"].value.item(), 3, atol=0.2)


def test_errors_of_functions_come_through():
    def broken(point):
        raise KeyError("mine")

    net = Net()
    with pytest.raises(KeyError, match="mine"):
        esp.Trainer(net.model, points(10, 1), output=broken, label=lambda p: 0).run()
    with pytest.raises(esp.UsageError, match="must return an Expr"):
        esp.Trainer(net.model, points(10, 1), output=lambda p: 3, label=lambda p: 0).run()
    with pytest.raises(esp.UsageError, match="one of `label`, `target` and `loss`"):
        esp.Trainer(net.model, points(10, 1), output=net.output)
    with pytest.raises(esp.UsageError, match="epoch"):
        make(net, epoch=3).run()


def test_a_standard_model_learns_from_a_file_and_predicts(tmp_path):
    rng = random.Random(4)
    words = {"good": 1, "fine": 1, "bad": 0, "poor": 0}

    def record():
        chosen = [rng.choice(list(words)) for _ in range(3)]
        return {"text": " ".join(chosen), "label": "praise" if sum(words[w] for w in chosen) >= 2 else "blame"}

    (tmp_path / "train.jsonl").write_text("".join(json.dumps(record()) + "\n" for _ in range(300)))
    model = esp.models.make("json", label="label")
    result = model.train(tmp_path / "train.jsonl", folder=tmp_path / "run", epochs=12,
                         optimizer="adam(learning_rate=0.01)")  # fmt: skip
    assert result["best_value"] > 0.9
    assert model.weights.count() > 0
    records = [{"text": "good fine good"}, {"text": "bad poor bad"}]
    again = esp.models.load(tmp_path / "run")
    assert again.name == "json"
    answers = again.predict(records)
    assert len(answers) == 2
    assert [answer["class"] for answer in answers] == ["praise", "blame"]
    assert answers == model.predict(records)


def test_unknown_models_and_settings_are_refused_with_the_nearest():
    with pytest.raises(esp.UsageError, match="tagger"):
        esp.models.make("taggr")
    with pytest.raises(esp.UsageError, match="hidden"):
        esp.models.make("tagger", hiden=3)
