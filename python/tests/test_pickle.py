"""Models, layers and what is made of them, as pickles and copies."""

import copy
import gc
import pickle

import numpy as np
import pytest

import espalier as esp


class Net:
    def __init__(self):
        self.model = esp.Model(seed=4)
        self.bare = self.model.add("bare", 3, init=2.0)
        self.words = esp.nn.Embedding(self.model / "words", 5, 4, init=lambda shape: np.ones(shape))
        self.cell = esp.nn.BinaryTreeLstm(self.model / "encoder" / "cell", 4, 3)
        self.out = esp.nn.FC(self.model / "out", 3, 2, activation="tanh", layer_norm=True)
        self.scope = self.model / "encoder"
        self.model["out.W"].frozen = True

    def score(self):
        with esp.Graph(training=False):
            h = self.cell(self.cell.leaf(self.words(1)), self.cell.leaf(self.words(2))).h
            return self.out(h * self.bare).value().tolist()


def through_pickle(x):
    return pickle.loads(pickle.dumps(x))


@pytest.mark.parametrize("again", [through_pickle, copy.deepcopy])
def test_a_network_of_layers_gives_the_same_afterwards(again):
    net = Net()
    net.words, expected = net.words, net.score()
    other = again(net)
    assert other.score() == expected
    assert sorted(other.model.state_dict()) == sorted(net.model.state_dict())
    assert other.model["out.W"].frozen and not other.model["out.g" if "out.g" in other.model else "bare"].frozen
    other.bare.value = [0, 0, 0]  # numbers of its own
    assert net.score() == expected != other.score()
    assert other.bare.model is other.model is other.scope.model
    del net
    gc.collect()
    other.score()


@pytest.mark.parametrize("again", [through_pickle, copy.deepcopy])
def test_a_model_alone_has_all_its_parameters(again):
    model = Net().model
    other = again(model)
    assert len(other) == len(model)
    for name, value in model.state_dict().items():
        np.testing.assert_array_equal(other[name].value, value)
    assert len(again(other)) == len(model)


def test_a_parameter_alone_brings_its_model():
    p = through_pickle(Net().bare)
    assert p.value.tolist() == [2, 2, 2]
    assert "words.table" in p.model


def test_structures_are_data():
    s = esp.Structure.tree([[-1, -1], [-1, -1], [0, 1]])
    other = through_pickle(s)
    assert [(other.kind(i), other.x(i), other.children(i)) for i in range(3)] == [(0, 0, []), (0, 1, []), (1, -1, [0, 1])]


def test_values_are_arrays_and_graphs_are_not_data():
    with esp.Graph() as g:
        x = g.input([1.0])
    assert through_pickle(x.value()).tolist() == [1]
    with pytest.raises(TypeError):
        pickle.dumps(g)
    with pytest.raises(TypeError):
        pickle.dumps(x)
