"""Layers, models and optimizers."""

import gc

import numpy as np
import pytest

import espalier as esp


def test_linear_is_a_product_and_a_bias():
    model = esp.Model(seed=2)
    layer = esp.nn.Linear(model / "f", 3, 2)
    x = np.array([1.0, -2.0, 0.5], np.float32)
    with esp.Graph() as g:
        y = layer(g.input(x)).value()
    np.testing.assert_allclose(y, x @ model["f.W"].value + model["f.b"].value, rtol=1e-6)


LAYERS = {
    "Linear": lambda s: (esp.nn.Linear(s, 4, 3), lambda f, x: f(x)),
    "Linear without bias": lambda s: (esp.nn.Linear(s, 4, 3, bias=False), lambda f, x: f(x)),
    "LayerNorm": lambda s: (esp.nn.LayerNorm(s, 4), lambda f, x: f(x)),
    "Mlp": lambda s: (esp.nn.Mlp(s, [4, 5, 3], activation="tanh"), lambda f, x: f(x)),
    "FC": lambda s: (esp.nn.FC(s, 4, 3, layer_norm=True), lambda f, x: f(x)),
    "BinaryTreeLstm": lambda s: (esp.nn.BinaryTreeLstm(s, 4, 3), lambda f, x: f(f.leaf(x), f(f.leaf(x), None)).h),
    "BinaryTreeLstm with inputs": lambda s: (esp.nn.BinaryTreeLstm(s, 4, 3, node_input=4),
                                             lambda f, x: f(x, f.leaf(x), f.leaf(x)).c),
    "NaryTreeLstm": lambda s: (esp.nn.NaryTreeLstm(s, 4, 3, 3), lambda f, x: f([f.leaf(x), None, f.leaf(x)]).h),
    "ChildSumTreeLstm": lambda s: (esp.nn.ChildSumTreeLstm(s, 4, 3), lambda f, x: f(x, [f.leaf(x), f.leaf(x)]).h),
    "TreeGru": lambda s: (esp.nn.TreeGru(s, 4), lambda f, x: f(f.leaf(x), f.leaf(x))),
    "LstmCell": lambda s: (esp.nn.LstmCell(s, 4, 3), lambda f, x: f(x, f(x, f.initial())).h),
    "BiLstm": lambda s: (esp.nn.BiLstm(s, 4, 3), lambda f, x: f([x, x, x])[1]),
    "GruCell": lambda s: (esp.nn.GruCell(s, 4, 3), lambda f, x: f(x, f.initial())),
    "DotAttention": lambda s: (esp.nn.DotAttention(), lambda f, x: f(x, [x, x * 2], [x, x])[0]),
    "AdditiveAttention": lambda s: (esp.nn.AdditiveAttention(s, 4, 4, 6), lambda f, x: f(x, [x, x], [x, x])[1]),
    "Dropout": lambda s: (esp.nn.Dropout(0.0), lambda f, x: f(x)),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layers_compute_and_differentiate_as_the_reference_does(name):
    model = esp.Model(seed=5)
    layer, use = LAYERS[name](model / "layer")
    results = []
    for execution in ("kernels", "plain"):
        model.zero_grad()
        with esp.Graph(execution=execution) as g:
            x = g.input([0.5, -1.0, 2.0, 0.1])
            y = use(layer, x)
            esp.sum(esp.square(y) + y).backward(wanted=[x])
            results.append([y.value(), x.grad(), *(p.grad for p in model)])
    for got, expected in zip(*results, strict=True):
        if expected is not None:
            np.testing.assert_allclose(got, expected, rtol=2e-4, atol=1e-5)


def test_layers_over_rows_give_what_they_give_node_by_node():
    model = esp.Model(seed=5)
    x = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    children = [[-1, -1], [-1, -1], [0, 1], [-1, -1], [2, 3]]
    lstm, tree, gru = (esp.nn.LstmCell(model / "l", 4, 3), esp.nn.BinaryTreeLstm(model / "t", 4, 3),
                       esp.nn.GruCell(model / "g", 4, 3))  # fmt: skip
    with esp.Graph() as g:
        rows = g.rows(x)
        leaves = [tree.leaf(g.input(row)) for row in x]
        pair = tree(leaves[0], leaves[1])
        top = tree(pair, leaves[2])
        got = tree.rows(rows, children)
        for part in ("h", "c"):
            expected = [getattr(s, part).value() for s in (leaves[0], leaves[1], pair, leaves[2], top)]
            np.testing.assert_allclose(getattr(got, part).value(), expected, rtol=1e-5, atol=1e-6)
        state, h = lstm.initial(), gru.initial()
        for i, row in enumerate(x):
            state, h = lstm(g.input(row), state), gru(g.input(row), h)
        np.testing.assert_allclose(lstm.rows(rows).h.value()[-1], state.h.value(), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(gru.rows(rows).value()[-1], h.value(), rtol=1e-5, atol=1e-6)


def test_embeddings_look_up_rows():
    model = esp.Model()
    table = np.arange(12, dtype=np.float32).reshape(4, 3)
    words = esp.nn.Embedding(model / "words", 5, 3, pretrained=table, frozen=True)
    with esp.Graph():
        np.testing.assert_array_equal(words(2).value(), table[2])
        np.testing.assert_array_equal(words.rows(np.array([3, 0])).value(), table[[3, 0]])
        with pytest.raises(esp.UsageError, match="5"):
            words(5)
    assert (words.size, words.dim, model["words.table"].frozen) == (5, 3, True)
    with pytest.raises(esp.UsageError, match="there is no graph"):
        words(1)


def test_layers_keep_their_model_alive():
    def make():
        return esp.nn.Linear(esp.Model(seed=1) / "f", 2, 2)

    layer = make()
    gc.collect()
    with esp.Graph() as g:
        assert layer(g.input([1.0, 1.0])).value().shape == (2,)


def test_parameters_show_their_numbers_without_a_copy():
    model = esp.Model()
    p = model.add("p", (2, 2), init=1.0)
    view = p.value
    assert not view.flags.writeable
    p.value = [[1, 2], [3, 4]]
    assert view.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(esp.UsageError, match="still refers"):
        model.to("float64")
    del view
    model.to("float64")
    assert p.value.dtype == np.float64
    with pytest.raises(esp.UsageError, match=r"shape \[2, 2\], and the array \[3\]"):
        p.value = [1, 2, 3]
    view = p.value
    del p, model
    gc.collect()
    assert view.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("init", ["zeros", "ones", "glorot", "he", "orthogonal", esp.init.normal(0, 2),
                                  esp.init.uniform(-1, 1), 0.5, np.eye(4), lambda shape: np.full(shape, 7.0)])  # fmt: skip
def test_initializers(init):
    value = esp.Model(seed=1).add("p", (4, 4), init=init).value
    assert value.shape == (4, 4)
    if isinstance(init, str) and init == "orthogonal":
        np.testing.assert_allclose(value @ value.T, np.eye(4), atol=1e-5)
    if callable(init):
        assert (value == 7).all()


def test_the_seed_decides_the_numbers():
    def numbers(seed):
        return esp.Model(seed=seed).add("p", 10, init=esp.init.normal()).value.tolist()

    assert numbers(1) == numbers(1) != numbers(2)


def test_state_dicts_go_out_and_in(tmp_path):
    def make(seed):
        model = esp.Model(seed=seed)
        return model, esp.nn.Linear(model / "f", 3, 2)

    (a, _), (b, _) = make(1), make(2)
    state = a.state_dict()
    assert list(state) == ["f.W", "f.b"]
    b.load_state_dict(state)
    np.testing.assert_array_equal(b["f.W"].value, a["f.W"].value)
    path = tmp_path / "weights.safetensors"
    a.save(path, {"note": "text"})
    c, _ = make(3)
    c.load(path)
    np.testing.assert_array_equal(c["f.W"].value, a["f.W"].value)
    with pytest.raises(esp.UsageError, match='"f.b" is missing'):
        b.load_state_dict({"f.W": state["f.W"]})
    with pytest.raises(esp.UsageError, match="f.X"):
        b.load_state_dict({**state, "f.X": 1})
    with pytest.raises(esp.UsageError, match="has shape"):
        b.load_state_dict({**state, "f.W": [1.0]})
    with pytest.raises(esp.ResourceError):
        b.load(tmp_path / "missing")
    with pytest.raises(esp.UsageError, match="f.W"):
        a["f.V"]


OPTIMIZERS = [esp.optim.Sgd, esp.optim.Adam, esp.optim.AdamW, esp.optim.RmsProp, esp.optim.Adagrad,
              esp.optim.Adadelta, esp.optim.Ftrl]  # fmt: skip


@pytest.mark.parametrize("rule", OPTIMIZERS)
def test_optimizers_lower_a_loss_and_go_on_from_their_state(rule):
    def make():
        model = esp.Model(seed=1)
        return model.add("x", 3, init=2.0), rule(model, learning_rate=0.05)

    def steps(x, optimizer, n):
        for _ in range(n):
            with esp.Graph():
                loss = esp.sum(esp.square(x))
                loss.backward()
                optimizer.step()
        return float(np.square(x.value).sum())

    x, optimizer = make()
    assert steps(x, optimizer, 5) < 12
    assert optimizer.steps == 5
    y, other = make()
    y.value = x.value
    other.load_state_dict(optimizer.state_dict())
    assert steps(x, optimizer, 3) == steps(y, other, 3)


def test_minimise_is_backward_and_step():
    values = []
    for whole in (True, False):
        model = esp.Model(seed=1)
        x = model.add("x", 3, init=2.0)
        sgd = esp.optim.Sgd(model, learning_rate=0.1)
        with esp.Graph():
            loss = esp.sum(esp.square(x))
            if whole:
                sgd.minimise(loss)
            else:
                loss.backward()
                np.testing.assert_allclose(x.grad, [4, 4, 4])
                sgd.step()
        values.append(x.value.tolist())
    np.testing.assert_allclose(values[0], values[1], rtol=1e-6)


def test_schedules_of_the_library_and_of_python():
    model = esp.Model()
    x = model.add("x", 1, init=0.0)
    sgd = esp.optim.parse(model, "sgd(lr=1)")
    assert "sgd" in repr(sgd)
    sgd.set_schedule(lambda step: 1 / (1 + step))
    for _ in range(3):
        with esp.Graph():
            sgd.minimise(esp.sum(x * 1.0))
    np.testing.assert_allclose(x.value, [-(1 + 1 / 2 + 1 / 3)], rtol=1e-6)
    cosine = esp.optim.linear_warmup(2, esp.optim.cosine_decay(4))
    assert cosine(0) == pytest.approx(1 / 3)
    sgd.learning_rate = 0.5
    assert sgd.learning_rate == 0.5


def test_a_tree_lstm_learns():
    model = esp.Model(seed=1)
    words = esp.nn.Embedding(model / "words", 4, 16)
    cell = esp.nn.BinaryTreeLstm(model / "cell", 16, 32)
    classify = esp.nn.Linear(model / "classify", 32, 2)
    adam = esp.optim.Adam(model, learning_rate=0.01)
    good, bad, no, very = range(4)
    data = [(good, 1), (bad, 0), ((no, good), 0), ((no, bad), 1), ((no, (very, bad)), 1)]

    def encode(tree):
        return cell.leaf(words(tree)) if isinstance(tree, int) else cell(encode(tree[0]), encode(tree[1]))

    for _ in range(100):
        with esp.Graph() as g:
            losses = []
            for tree, label in data:
                g.begin_instance()
                losses.append(esp.cross_entropy(classify(encode(tree).h), label))
            loss = esp.mean(losses)
            loss.backward()
            adam.step()
    # The same program in C++, examples/first_program.cc, with the same seed.
    assert loss.scalar() < 0.01
