"""The same program gives the same bits from Python and from C++ (same_bits.cc)."""

import pathlib
import subprocess

import numpy as np
import pytest

import espalier as esp

PROGRAM = pathlib.Path(esp.__file__).absolute().parents[2] / "same_bits"
GOOD, BAD, NO, VERY = range(4)
DATA = [(GOOD, 1), (BAD, 0), ((NO, GOOD), 0), ((NO, BAD), 1), ((NO, (VERY, BAD)), 1)]


class Net:
    def __init__(self):
        self.model = esp.Model(seed=5)
        self.words = esp.nn.Embedding(self.model / "words", 4, 24)
        self.cell = esp.nn.BinaryTreeLstm(self.model / "cell", 24, 40)
        self.dropout = esp.nn.Dropout(0.25)
        self.classify = esp.nn.Linear(self.model / "classify", 40, 2)

    def encode(self, tree):
        if isinstance(tree, int):
            return self.cell.leaf(self.dropout(self.words(tree)))
        return self.cell(self.encode(tree[0]), self.encode(tree[1]))

    def blocks(self):
        b = esp.blocks
        tree = b.Forward("tree")
        leaf = b.embedding(self.words) >> self.dropout >> self.cell.leaf
        pair = b.record([tree(), tree()]) >> self.cell
        tree.resolve_to(b.one_of(lambda t: isinstance(t, int), {True: leaf, False: pair}))
        scored = b.record([tree() >> b.get(0) >> self.classify, b.identity()])
        return b.Program(scored >> esp.cross_entropy)

    def losses(self):
        for tree, label in DATA:
            esp.begin_instance()
            yield esp.cross_entropy(self.classify(self.encode(tree).h), label)


def train(net, record):
    adam = esp.optim.Adam(net.model, learning_rate=0.01)
    losses = []
    for step in range(30):
        with esp.Graph(seed=7, step=step):
            loss = esp.mean(record())
            loss.backward()
            adam.step()
            losses.append(loss.scalar())
    return losses


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    if not PROGRAM.exists():
        pytest.skip(f"there is no {PROGRAM}: the package was not built by tools/build_python")
    weights = tmp_path_factory.mktemp("same_bits") / "weights.safetensors"
    done = subprocess.run([PROGRAM, weights], capture_output=True, text=True, check=True)
    net = Net()
    net.model.load(str(weights))
    return [float.fromhex(line) for line in done.stdout.split()], net.model.state_dict()


@pytest.mark.parametrize("form", ["plain code", "blocks"])
def test_the_same_program_gives_the_same_bits(form, expected):
    net = Net()
    if form == "blocks":
        program = net.blocks()
        losses = train(net, lambda: program.record_all(DATA).outputs)
    else:
        losses = train(net, lambda: list(net.losses()))
    assert losses == expected[0] and losses[-1] < losses[0]
    for name, weights in net.model.state_dict().items():
        np.testing.assert_array_equal(weights.view(np.uint32), expected[1][name].view(np.uint32), err_msg=name)
