"""Graphs, Exprs, and arrays in and out."""

import gc
import threading

import numpy as np
import pytest

import espalier as esp


def test_a_run_computes_all_instances_together():
    with esp.Graph() as g:
        ys = []
        for i in range(5):
            g.begin_instance()
            ys.append(esp.tanh(g.input([float(i), 1.0])))
        total = esp.sum(ys)
    np.testing.assert_allclose(total.value(), np.tanh([[i, 1] for i in range(5)]).sum(0), rtol=1e-6)
    statistics = g.statistics()
    assert (statistics.runs, statistics.steps, statistics.nodes) == (1, 2, 6)
    assert "tanh" in g.explain()
    assert g.instances == 5


def test_operators_take_numbers_arrays_and_exprs_on_both_sides():
    a, b = np.array([1.0, 4.0], np.float32), np.array([2.0, 8.0], np.float32)
    g = esp.Graph()
    x, y = g.input(a), g.input(b)
    cases = {
        "+": (x + y, a + b), "+n": (x + 2, a + 2), "n+": (2 + x, 2 + a), "+a": (x + b, a + b), "a+": (b + x, a + b),
        "-": (x - y, a - b), "-n": (x - 2, a - 2), "n-": (1 - x, 1 - a), "a-": (b - x, b - a),
        "*": (x * y, a * b), "*n": (x * 3, a * 3), "n*": (3 * x, a * 3), "a*": (b * x, a * b),
        "/": (x / y, a / b), "/n": (x / 2, a / 2), "n/": (1 / x, 1 / a), "a/": (b / x, b / a),
        "neg": (-x, -a), "**": (x**2, a**2), "dot": (x @ y, a @ b),
    }  # fmt: skip
    for name, (got, expected) in cases.items():
        np.testing.assert_allclose(got.value(), expected, rtol=1e-6, err_msg=name)


def test_matrix_products_follow_numpy():
    rng = np.random.default_rng(1)
    m, n = rng.normal(size=(3, 4)).astype(np.float32), rng.normal(size=(4, 2)).astype(np.float32)
    v, w = rng.normal(size=4).astype(np.float32), rng.normal(size=3).astype(np.float32)
    g = esp.Graph()
    np.testing.assert_allclose((g.input(m) @ g.input(n)).value(), m @ n, rtol=1e-5)
    np.testing.assert_allclose((g.input(m) @ g.input(v)).value(), m @ v, rtol=1e-5)
    np.testing.assert_allclose((g.input(w) @ g.input(m)).value(), w @ m, rtol=1e-5)


@pytest.mark.parametrize("array", [
    np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(6.0).reshape(2, 3), np.arange(6).reshape(2, 3),
    np.arange(6, dtype=np.float32).reshape(3, 2).T, np.arange(12, dtype=np.float32).reshape(2, 6)[:, ::2],
    [[1, 2, 3], [4, 5, 6]], 3.5, 7, np.float64(2.5), [],
])  # fmt: skip
def test_inputs_take_what_numpy_takes(array):
    value = esp.Graph().input(array).value()
    np.testing.assert_array_equal(value, np.asarray(array, np.float32))


def test_float64_graphs_keep_their_digits():
    g = esp.Graph(dtype="float64")
    assert g.input([1 / 3]).value()[0] == 1 / 3


def test_values_outlive_their_graph():
    value = esp.tanh(esp.Graph().input(np.zeros(1000))).value()
    gc.collect()
    np.testing.assert_array_equal(value, np.zeros(1000))
    value[0] = 1  # an array of its own


def test_an_expr_keeps_its_graph_alive():
    y = esp.Graph().input([2.0]) * 3
    gc.collect()
    assert y.value().tolist() == [6.0]
    assert float(y) == 6.0
    assert np.asarray(y, dtype=np.float64).dtype == np.float64


def test_rows_are_one_node_however_many():
    g = esp.Graph()
    x = g.rows(np.arange(12).reshape(4, 3))
    assert (x.row_count, x.shape, x.has_many_rows) == (4, (3,), True)
    y = esp.sum(esp.square(x))
    assert len(g) == 3
    np.testing.assert_array_equal(y.value(), (np.arange(12).reshape(4, 3) ** 2).sum(1))
    np.testing.assert_array_equal(esp.row(x, 2).value(), [6, 7, 8])
    assert esp.rows([x, g.input([0, 0, 0])]).row_count == 5


def test_gradients_of_inputs():
    g = esp.Graph()
    x = g.input([1.0, 2.0, 3.0])
    esp.sum(esp.square(x)).backward(wanted=[x])
    np.testing.assert_allclose(x.grad(), [2, 4, 6])


def test_leaves_belong_to_the_graph_of_the_innermost_with():
    with esp.Graph() as outer:
        with esp.Graph() as inner:
            x = esp.input([1.0])
        y = esp.constant(2, (3,))
    assert x.graph is inner
    assert y.graph is outer
    with pytest.raises(esp.UsageError, match="there is no graph"):
        esp.input([1.0])


def test_with_blocks_are_left_in_reverse_order():
    a, b = esp.Graph(), esp.Graph()
    with pytest.raises(esp.UsageError, match="reverse order"), a:
        b.__enter__()
    b.__exit__(None, None, None)
    a.__exit__(None, None, None)


@pytest.mark.parametrize("strategy", [*esp.strategies, lambda s, b, i: np.arange(len(s), dtype=np.int32)])
def test_strategies_agree(strategy):
    g = esp.Graph(strategy=strategy)
    x = [g.input([float(i), 1.0]) for i in range(4)]
    y = esp.sum([esp.tanh(x[0] * x[1]), esp.tanh(x[2]) * x[3]])
    np.testing.assert_allclose(y.value(), [np.tanh(0) + np.tanh(2) * 3, np.tanh(1) * 2], rtol=1e-6)


def test_an_error_of_a_strategy_comes_out_of_value():
    def broken(signature, input_begin, inputs):
        raise KeyError("mine")

    g = esp.Graph(strategy=broken)
    with pytest.raises(KeyError, match="mine"):
        (g.input([1.0]) * g.input([2.0])).value()


def test_finish_and_keep():
    g = esp.Graph()
    x = g.input([1.0])
    y, z = esp.tanh(x), esp.exp(x)
    g.keep(y)
    g.finish([z])
    np.testing.assert_allclose(z.value(), np.exp([1.0]), rtol=1e-6)


def test_options_are_checked_by_name():
    for options in ({"dtype": "int8"}, {"memoise": "much"}, {"execution": "gpu"}, {"strategy": "deep"}):
        with pytest.raises(esp.UsageError, match="unknown|no strategy|deep"):
            esp.Graph(**options)


def test_dropout_depends_on_seed_and_step_only():
    def mask(**options):
        g = esp.Graph(**options)
        return esp.dropout(g.input(np.ones(64)), 0.5).value().tolist()

    assert mask(seed=1, step=5) == mask(seed=1, step=5)
    assert mask(seed=1, step=5) != mask(seed=2, step=5)
    assert mask(seed=1, step=5, training=False) == [1.0] * 64


def test_threads_run_graphs_of_their_own():
    results = {}

    def work(seed):
        rng = np.random.default_rng(seed)
        a = rng.normal(size=(30, 30)).astype(np.float32)
        with esp.Graph() as g:
            x = g.input(a)
            for _ in range(5):
                x = esp.tanh(x @ g.input(a))
            results[seed] = (x.value(), a)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for value, a in results.values():
        x = a
        for _ in range(5):
            x = np.tanh(x @ a)
        np.testing.assert_allclose(value, x, rtol=1e-3, atol=1e-4)


def test_a_graph_that_runs_refuses_other_uses():
    g = esp.Graph(strategy=lambda s, b, i: (g.input([1.0]), np.arange(len(s), dtype=np.int32))[1])
    with pytest.raises(esp.UsageError, match="being run by another thread"):
        (g.input([1.0]) * g.input([2.0])).value()


def test_other_threads_go_on_while_a_graph_runs():
    inside, done = threading.Event(), threading.Event()

    def strategy(signature, input_begin, inputs):
        inside.set()
        assert done.wait(30)
        return np.arange(len(signature), dtype=np.int32)

    g = esp.Graph(strategy=strategy)
    y = g.input([1.0]) * g.input([2.0])
    thread = threading.Thread(target=y.value)
    thread.start()
    assert inside.wait(30)
    with pytest.raises(esp.UsageError, match="being run by another thread"):
        y.value()
    assert (esp.Graph().input([3.0]) * 2).value().tolist() == [6.0]
    done.set()
    thread.join()
    assert y.value().tolist() == [2.0]


def test_dlpack_goes_both_ways():
    class Foreign:  # an array of another library
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    x = esp.Graph().input(Foreign(np.array([1.0, 2.0], np.float32)))
    np.testing.assert_array_equal(np.from_dlpack(x.value()), [1, 2])
    model = esp.Model()
    w = model.add("w", 2, init=3.0)
    assert w.__dlpack_device__() == (1, 0)


def test_an_explanation_is_a_text_and_in_a_notebook_a_page():
    with esp.Graph() as g:
        esp.tanh(g.input([1.0])).value()
    text = g.explain()
    assert isinstance(text, str) and "tanh" in text
    assert "<html" in g.page() and "tanh" in g.page()
    assert text._repr_html_().startswith("<iframe srcdoc=") and "&lt;html" in text._repr_html_()
