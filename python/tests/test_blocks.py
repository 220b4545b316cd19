"""Blocks over plain Python objects: values and gradients are those of plain code, and errors say where."""

import dataclasses
import gc
import weakref

import numpy as np
import pytest

import espalier as esp
from espalier import blocks as b

WORDS = ["good", "bad", "film", "very", "not"]


@dataclasses.dataclass
class Tree:
    word: str = ""
    left: "Tree | None" = None
    right: "Tree | None" = None
    praise: int = 0

    def is_leaf(self):
        return self.left is None


class Net:
    def __init__(self):
        self.model = esp.Model(seed=3)
        self.table = esp.nn.Embedding(self.model / "words", 5, 4)
        self.cell = esp.nn.BinaryTreeLstm(self.model / "cell", 4, 6)
        self.classify = esp.nn.Linear(self.model / "classify", 6, 2)

    def state(self, tree, losses):
        """The same model in plain code, with a loss at each node."""
        if tree.is_leaf():
            state = self.cell.leaf(self.table(WORDS.index(tree.word)))
        else:
            state = self.cell(self.state(tree.left, losses), self.state(tree.right, losses))
        losses.append(esp.cross_entropy(self.classify(state.h), tree.praise))
        return state

    def blocks(self):
        tree = b.Forward("tree")
        token = b.get("word") >> b.lookup(WORDS) >> b.embedding(self.table) >> self.cell.leaf
        pair = b.record({"left": tree(), "right": tree()}) >> self.cell
        node = b.Composition("node")
        state = node(b.one_of(Tree.is_leaf, {True: token, False: pair}), node.input)
        scores = node(b.get(0) >> self.classify, state)
        label = node(b.get("praise"), node.input)
        node(b.function(esp.cross_entropy) >> b.loss("praise"), scores, label)
        node(b.metric("scores"), scores, label)
        node.output.reads(state)
        tree.resolve_to(node)
        return tree()


def leaf(word, praise=0):
    return Tree(word, praise=praise)


TREES = [leaf("film"), Tree("", leaf("not"), Tree("", leaf("very"), leaf("good", 1), 1)),
         Tree("", Tree("", leaf("bad"), leaf("film")), leaf("not"), 1)]  # fmt: skip


def test_a_tree_model_has_the_values_and_gradients_of_plain_code():
    net = Net()
    with esp.Graph():
        losses = []
        for tree in TREES:
            esp.begin_instance()
            net.state(tree, losses)
        plain = esp.sum(esp.stack(losses)) * (1 / len(TREES))
        plain.backward()
        expected = plain.scalar(), [p.grad.copy() for p in net.model]
    net.model.zero_grad()
    program = b.Program(net.blocks())
    with esp.Graph() as g:
        loss = program.loss(TREES)
        loss.backward()
        np.testing.assert_allclose(loss.scalar(), expected[0], rtol=1e-6)
    for parameter, grad in zip(net.model, expected[1], strict=True):
        np.testing.assert_allclose(parameter.grad, grad, rtol=1e-5, atol=1e-7)
    with esp.Graph() as g:
        recording = program.record_all(TREES)
    assert len(recording.outputs) == 3
    assert [e.label for e in recording.metric("scores")].count(1) == 3
    assert [e.instance for e in recording.metrics] == [0] + 5 * [1] + 5 * [2]
    assert len(g) > 0


def test_dicts_objects_and_mixtures_are_the_same_data():
    net = Net()
    read = b.get("left") >> b.get("word") >> b.lookup(WORDS) >> b.embedding(net.table)
    program = b.Program(read)
    for data in ({"left": {"word": "bad"}}, Tree(left=leaf("bad")), {"left": leaf("bad")}):
        np.testing.assert_array_equal(program.eval(data).output, net.model["words.table"].value[1])


def test_a_program_trains():
    net = Net()
    program = b.Program(net.blocks())
    adam = esp.optim.Adam(net.model, learning_rate=0.02)
    losses = []
    for _ in range(60):
        with esp.Graph():
            loss = program.loss(TREES)
            loss.backward()
            adam.step()
            losses.append(loss.scalar())
    assert losses[-1] < 0.05 < losses[0]


NUMBERS = {
    "scalar": (b.scalar(), 3.5, 3.5),
    "bool": (b.scalar(), True, 1.0),
    "NumPy number": (b.scalar(), np.float32(0.5), 0.5),
    "vector": (b.vector(3), [1, 2, 3], [1, 2, 3]),
    "vector of an array": (b.vector(2), np.array([1.0, 2.0]), [1, 2]),
    "tensor": (b.tensor((2, 2)), [[1, 2], [3, 4]], [[1, 2], [3, 4]]),
    "one_hot of a range": (b.one_hot(range(-1, 2)), 0, [0, 1, 0]),
    "one_hot of strings": (b.one_hot(["red", "green"], unknown="zeros"), "blue", [0, 0]),
    "get by place": (b.get(-1) >> b.scalar(), [1, 2, 3], 3),
    "record by name": (b.record({"a": b.scalar(), "b": b.vector(2)}) >> b.concat(), {"b": [1, 2], "a": 0}, [0, 1, 2]),
    "record by place": (b.record([b.scalar(), b.scalar()]) >> b.concat(), (4, 5), [4, 5]),
    "all_of": (b.all_of(b.scalar(), b.scalar() >> (lambda x: -x)) >> b.concat(), 2, [2, -2]),
    "map and sum": (b.map(b.scalar()) >> b.sum(), [1, 2, 3], 6),
    "of nothing": (b.map(b.scalar()) >> b.sum(), [], 0),
    "min": (b.map(b.scalar()) >> b.min(), [3, 1, 2], 1),
    "max": (b.map(b.scalar()) >> b.max(), (3, 1, 2), 3),
    "mean": (b.map(b.scalar()) >> b.mean(), [1, 3], 2),
    "reduce": (b.map(b.scalar()) >> b.reduce(lambda x, y: x - y), [1, 2, 3, 5], 1),
    "fold": (b.map(b.scalar()) >> b.fold(lambda s, x: 2 * s + x, b.zeros("float[]")), [1, 0, 1], 5),
    "length": (b.length(), "a b c".split(), 3),
    "slice": (b.map(b.scalar()) >> b.slice(step=-1) >> b.stack(3), [1, 2, 3], [3, 2, 1]),
    "ngrams": (b.map(b.scalar()) >> b.ngrams(2) >> b.map(lambda x, y: x * y) >> b.sum(), [1, 2, 3], 8),
    "zip with broadcast": (b.all_of(b.get("x") >> b.map(b.scalar()), b.get("k") >> b.scalar() >> b.broadcast())
                           >> b.zip_with(lambda x, k: x * k) >> b.sum(), {"x": [1, 2], "k": 3}, 9),
    "nth": (b.all_of(b.get("x") >> b.map(b.scalar()), b.get("i")) >> b.nth(), {"x": [7, 8, 9], "i": -2}, 8),
    "one_of by itself": (b.one_of(None, {"a": b.from_tensor([1.0]), "b": b.zeros("float[1]")}), "a", [1]),
    "one_of by name": (b.one_of("kind", {0: b.get("x") >> b.scalar(), 1: b.zeros("float[]")}), {"kind": 0, "x": 5}, 5),
    "one_of by a function": (b.one_of(lambda x: x % 2, {0: b.scalar(), 1: b.scalar() >> (lambda x: -x)}), 3, -3),
    "optional": (b.get("x") >> b.optional(b.scalar(), 4.0 >> b.identity()), {"x": None}, 4),
    "input_transform": (b.input_transform(str.lower) >> b.one_hot(["a", "b"]), "B", [0, 1]),
    "a function with data": (b.all_of(b.map(b.scalar()) >> b.stack(3), b.get(0)) >> esp.pick, [2, 5, 6], 6),
    "a list of a function": (b.scalar() >> (lambda x: [x, x * 2]) >> b.sum(), 2, 6),
    "a tuple of a function": (b.scalar() >> (lambda x: (x, (x * 2, x * 3))) >> b.get(1) >> b.get(1), 2, 6),
}  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
def test_blocks_compute(name):
    block, data, expected = NUMBERS[name]
    for dtype in ("float32", "float64"):
        np.testing.assert_allclose(b.eval(block, data, dtype=dtype).output, expected)


def test_outputs_have_the_form_of_their_type():
    both = b.all_of(b.get("x") >> b.map(b.scalar()), b.get("name"))
    output = b.eval(both, {"x": [1, 2], "name": "n"}).output
    assert isinstance(output, tuple) and isinstance(output[0], list)
    assert [float(x) for x in output[0]] == [1, 2] and output[1] == "n"
    assert (b.map(b.scalar()).output_type, repr(b.vector(3))) == (
        "a sequence of float[]", "<espalier.blocks: vector(3) : ? -> float[3]>")  # fmt: skip


@pytest.mark.parametrize("make", [
    lambda m: b.rnn(esp.nn.LstmCell(m / "f", 2, 3)) >> b.get(0) >> b.mean(),
    lambda m: b.rnn(esp.nn.GruCell(m / "f", 2, 3)) >> b.get(1),
    lambda m: b.bidirectional(esp.nn.GruCell(m / "f", 2, 3), esp.nn.LstmCell(m / "r", 2, 3)) >> b.sum(),
    lambda m: b.conv(2, esp.nn.Linear(m / "f", 4, 3), same=True) >> b.max(),
    lambda m: b.pad(1, 0) >> b.map(esp.nn.Linear(m / "f", 2, 3)) >> b.mean(),
    lambda m: b.sum() >> esp.nn.Mlp(m / "f", [2, 4, 3]),
    lambda m: b.all_of(b.mean(), b.identity()) >> b.attention(esp.nn.DotAttention()),
    lambda m: b.all_of(m.add("w", 2), b.sum()) >> b.function(lambda w, x: w * x),
])  # fmt: skip
def test_layers_are_blocks_and_outlive_their_variables(make):
    model = esp.Model(seed=1)
    program = b.Program(b.map(b.vector(2)) >> make(model) >> esp.sum >> b.loss("sum"))
    gc.collect()
    with esp.Graph() as g:
        loss = program.loss([[[1, 2], [3, 4], [5, 6]], [[1, 1]]])
        loss.backward()
        assert np.isfinite(loss.scalar()) and len(g) > 0
    assert all(np.isfinite(p.grad).all() for p in model)


def test_shared_runs_once_per_object():
    calls = []
    node = b.shared(b.input_transform(lambda x: calls.append(x) or x["n"]) >> b.scalar())
    one = {"n": 2}
    assert float(b.eval(b.map(node) >> b.sum(), [one, one, {"n": 2}]).output) == 6
    assert len(calls) == 2


def test_data_may_be_nested_to_any_depth():
    tree = b.Forward("tree")
    last, others = b.get("n") >> b.scalar(), b.get("next") >> tree()
    tree.resolve_to(b.one_of(lambda t: t["next"] is None, {True: last, False: others}))
    data = {"next": None, "n": 7}
    for _ in range(20000):
        data = {"next": data}
    assert float(b.eval(tree(), data).output) == 7
    while data["next"] is not None:  # one level at a time: Python itself frees deep ones, but slowly
        data = data["next"]


def test_taps_and_watched_blocks_are_collected():
    program = b.Program(b.map((b.scalar() >> (lambda x: x * 2)).named("twice") >> b.tap("seen")) >> b.sum(), ["twice"])
    result = program.eval([1, 2])
    assert [float(e.value) for e in result.taps if e.name == "seen"] == [2, 4]
    assert len(result.taps) == 4


def test_a_stream_takes_no_more_than_a_batch():
    taken = []
    results = b.stream(b.Program(b.scalar()), (taken.append(i) or i for i in range(10)), batch=3)
    assert float(next(results).output) == 0 and len(taken) == 3
    assert [float(r.output) for r in results] == list(range(1, 10))


# --- errors ----------------------------------------------------------------------------------------------------------


def test_types_that_differ_are_an_error_of_the_line_that_wires_them():
    model = esp.Model()
    word = b.lookup(WORDS) >> b.embedding(esp.nn.Embedding(model / "words", 5, 8))
    classify = esp.nn.Linear(model / "classify", 16, 2)
    with pytest.raises(esp.UsageError) as caught:
        word >> classify  # this line
    text = str(caught.value)
    assert "gives float[8], but Linear(classify.W) takes float[16]" in text
    lines = open(__file__).read().splitlines()
    assert f"test_blocks.py:{1 + next(i for i, line in enumerate(lines) if '# this line' in line)}" in text


def test_an_error_of_a_function_names_the_line_too():
    with pytest.raises(esp.UsageError, match=r"(?s)float\[3\].*test_blocks.py"):
        b.vector(3) >> (lambda x: esp.linear(x, x))


DATA_ERRORS = {
    "a word": (b.get("words") >> b.map(b.lookup(WORDS)), {"words": ["very", "god"]},
               'the word "god" is not in the vocabulary\n  in instance 0: /words/1'),
    "no such key": (b.get("left") >> b.get("word") >> b.scalar(), {"left": {"word": {}}}, "in instance 0: /left/word"),
    "a missing key": (b.get("left") >> b.scalar(), {"right": 1}, "the input has no \"left\": {'right': 1}"),
    "a missing attribute": (b.get("height") >> b.scalar(), Tree("x"), 'the input has no "height": Tree('),
    "a number": (b.get("x") >> b.scalar(), {"x": "seven"}, "expected a number, but got 'seven'"),
    "a list": (b.get("x") >> b.map(b.scalar()), {"x": 5}, "expected a list, but got 5"),
    "a size": (b.vector(2), [1, 2, 3], "expected 2 numbers, but got 3"),
    "none": (b.get("left") >> b.get("word") >> b.scalar(), Tree(), 'cannot take "word": the input is null'),
    "a case": (b.one_of(None, {"a": b.zeros("float[]")}), "c", '"c"'),
    "a cycle": (None, None, "cycle"),
}  # fmt: skip


@pytest.mark.parametrize("name", DATA_ERRORS)
def test_errors_in_data_say_where(name):
    block, data, expected = DATA_ERRORS[name]
    if name == "a cycle":
        node = b.Forward("node")
        node.resolve_to(b.shared(b.get("next") >> b.optional(node(), b.zeros("float[]"))))
        block, data = node(), {}
        data["next"] = data
    with pytest.raises(esp.DataError) as caught:
        b.eval(block, data)
    assert expected in str(caught.value)


def test_an_exception_of_a_function_is_the_cause():
    block = b.get("x") >> b.input_transform(lambda x: x["missing"]) >> b.scalar()
    with pytest.raises(esp.DataError, match=r"(?s)function throws: KeyError: 'missing'.*in instance 0: /x") as caught:
        b.eval(block, {"x": {}})
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_function_that_gives_another_type_is_refused():
    block = b.all_of(b.vector(2), b.identity()) >> (lambda x, data: x if data == 0 else esp.sum(x))
    with pytest.raises(esp.DataError, match="its types must not depend on the data"):
        b.eval(block, [1, 2])


def test_a_function_that_needs_data_says_what_it_gives():
    block = b.function(lambda data: esp.input(data["x"]))
    with pytest.raises(esp.UsageError, match="gives"):
        b.Program(block)
    np.testing.assert_array_equal(b.eval(block.gives("float[2]"), {"x": [1.0, 2.0]}).output, [1, 2])


def test_wrong_arguments_are_refused():
    for wrong in ("word", {"a": b.scalar()}):
        with pytest.raises(esp.UsageError, match="a block is expected"):
            b.map(wrong)
    with pytest.raises(esp.UsageError, match="no graph"):
        b.Program(b.scalar()).record(1)
    with pytest.raises(esp.UsageError, match="no loss"), esp.Graph():
        b.Program(b.scalar()).loss([1])


def test_a_cycle_through_a_function_is_collected():
    class Mark:
        pass

    def make(mark):
        def double(x):
            return (mark, made, x * 2)[2]  # refers to what refers to it

        made = []
        tree = b.Forward("tree")
        tree.resolve_to(b.scalar() >> double)
        node = b.Composition("node")
        node.output.reads(node(tree(), node.input))
        made += [tree, node, b.Program(b.map(node) >> b.sum())]
        return made[2].eval([1, 2]).output

    mark = Mark()
    seen = weakref.ref(mark)
    assert float(make(mark)) == 6
    del mark
    gc.collect()
    assert seen() is None


def test_functions_outlive_their_variables():
    def model():
        tree = b.Forward("tree")
        node = b.Composition("node")
        node.output.reads(node(b.scalar() >> (lambda x: x * 3), node.input))
        tree.resolve_to(b.one_of(lambda x: isinstance(x, int), {True: node, False: b.get(0) >> tree()}))
        return b.Program(b.all_of(tree(), b.nothing()))

    program = model()
    gc.collect()
    assert float(program.eval([[5]]).output[0]) == 15
