"""Cells and recursions from Python functions."""

import gc
import threading
import weakref

import numpy as np
import pytest

import espalier as esp


@pytest.fixture
def net():
    class Net:
        def __init__(self):
            self.model = esp.Model(seed=3)
            self.w = self.model.add("w", (8, 4))
            self.b = self.model.add("b", 4, init="zeros")

        def plain(self, a, b):
            return esp.tanh(esp.affine(esp.concat([a, b]), self.w, self.b))

        @esp.cell
        def merge(self, a, b):
            return self.plain(a, b)

    return Net()


def fold(f, x):
    for i in range(3):
        x = f(x, x)
    return x


def test_a_cell_is_one_node_and_gives_what_the_function_gives(net):
    with esp.Graph() as g:
        x = g.input(np.ones(4))
        nodes = len(g)
        y = fold(net.merge, x)
        assert len(g) - nodes <= 3 + 2  # the parameters
        np.testing.assert_array_equal(y.value(), fold(net.plain, x).value())


def test_a_cell_is_traced_once_for_each_shape():
    traced = []

    @esp.cell
    def double(x):
        traced.append(x.shape)
        return x + x

    for _ in range(3):
        with esp.Graph() as g:
            double(g.input([1.0])), double(g.input([1.0, 2.0]))
    assert sorted(set(traced)) == [(1,), (2,)]
    assert double.name == "double"
    before = len(traced)
    with esp.Graph() as g:
        double(g.input([5.0]))
    assert len(traced) == before


def test_every_object_has_a_cell_of_its_own():
    class Scaled:
        def __init__(self, factor):
            self.factor = factor

        @esp.cell
        def call(self, x):
            return x * self.factor

    with esp.Graph() as g:
        x = g.input([1.0])
        two, three = Scaled(2), Scaled(3)
        assert [float(two.call(x)), float(three.call(x)), float(two.call(x))] == [2, 3, 2]
    assert two.call is two.call


def test_states_and_tuples_go_in_and_out():
    @esp.cell(name="swap")
    def swap(state, pair):
        a, b = pair
        h, c = state
        return esp.State(c + a, h + b), (a, [b])

    with esp.Graph() as g:
        one, two = g.input([1.0]), g.input([2.0])
        for _ in range(3):
            state, (a, (b,)) = swap(esp.State(one, two), (one, two))
    assert [float(x) for x in (state.h, state.c, a, b)] == [3, 3, 1, 2]


def test_a_cell_of_any_number_of_inputs():
    @esp.cell
    def total(xs):
        return esp.tanh(esp.sum(xs))

    with esp.Graph() as g:
        x = g.input([0.25])
        for n in (1, 2, 5):
            np.testing.assert_allclose(float(total([x] * n)), np.tanh(0.25 * n), rtol=1e-5)


def test_an_error_in_a_cell_comes_through_and_the_cell_still_works():
    fail = [True]

    @esp.cell
    def moody(x):
        if fail[0]:
            raise KeyError("mine")
        return x + 1

    with esp.Graph() as g:
        x = g.input([1.0])
        with pytest.raises(KeyError, match="mine"):
            moody(x)
        fail[0] = False
        assert float(moody(x)) == 2


def test_what_a_cell_may_not_do_is_refused():
    with esp.Graph() as g:
        x = g.input([1.0])
        with pytest.raises(esp.CellError, match="must return Exprs"):
            esp.cell(lambda x: 3, name="three")(x)
        with pytest.raises(esp.UsageError):
            esp.cell(lambda x: x.value(), name="reads")(x)
        with pytest.raises(esp.UsageError):
            esp.cell(lambda y: x + y, name="captures")(x)
        with pytest.raises(esp.UsageError, match="positional"):
            esp.cell(lambda x: x)(x=x)


def test_expanded_cells_give_the_same(net):
    values = []
    for expand in (False, True):
        with esp.Graph(expand_cells=expand) as g:
            values.append(fold(net.merge, g.input(np.ones(4))).value())
    np.testing.assert_allclose(values[0], values[1], rtol=1e-6)


def test_gradients_go_through_cells(net):
    grads = []
    for f in (net.merge, net.plain):
        net.model.zero_grad()
        with esp.Graph() as g:
            esp.sum(fold(f, g.input(np.ones(4)))).backward()
        grads.append(net.w.grad)
    np.testing.assert_allclose(grads[0], grads[1], rtol=1e-5, atol=1e-6)


def test_cells_of_dead_objects_are_collected():
    class Owner:
        @esp.cell
        def call(self, x):
            return x + 1

    owner = Owner()
    with esp.Graph() as g:
        owner.call(g.input([1.0]))
    alive = weakref.ref(owner)
    del owner
    gc.collect()
    assert alive() is None


def test_threads_trace_one_cell():
    @esp.cell
    def slow(x):
        for _ in range(2000):  # long enough that other threads come meanwhile
            pass
        return esp.tanh(x)

    errors = []

    def work(size):
        try:
            with esp.Graph() as g:
                np.testing.assert_allclose(slow(g.input(np.ones(size))).value(), np.tanh(np.ones(size)), rtol=1e-6)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(1 + i % 5,)) for i in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_a_recursion_is_one_node_and_gives_what_the_cells_give(net):
    leaf = esp.Kind("leaf", 0, lambda x: esp.tanh(x))
    pair = esp.Kind("pair", 2, net.plain, takes_x=False)
    tree = esp.Recursion("tree", [leaf, pair])
    x = np.random.default_rng(1).normal(size=(3, 4))
    children = np.array([[-1, -1], [-1, -1], [0, 1], [-1, -1], [2, 3]])
    with esp.Graph() as g:
        states = tree(g.rows(x), children)
        a, b, c = (esp.tanh(g.input(row)) for row in x)
        expected = [a, b, net.plain(a, b), c, net.plain(net.plain(a, b), c)]
        np.testing.assert_allclose(states.value(), [e.value() for e in expected], rtol=1e-5)
    assert (tree.kind("leaf"), tree.kind("pair")) == (0, 1)
    with pytest.raises(esp.UsageError, match="leaf"):
        tree.kind("leave")


def test_a_recursion_with_states_of_two_parts_and_any_number_of_children():
    node = esp.Kind.any_children(
        "node", lambda x, state: (x * state[0], state[1]), lambda x, total: (x + total[0], x + total[1])
    )
    tree = esp.Recursion("sums", [node], state=[(2,), (2,)])
    s = esp.Structure()
    for row, children in enumerate([(), (), (0, 1), (0, 1, 2)]):
        assert s.add(0, row, children) == row
    x = np.random.default_rng(2).normal(size=(4, 2)).astype(np.float32)
    with esp.Graph() as g:
        h, c = tree(g.rows(x), s)
        expected_h, expected_c = [], []
        for row in range(4):
            below = s.children(row)
            expected_h.append(x[row] + sum(x[row] * expected_h[i] for i in below))
            expected_c.append(x[row] + sum(expected_c[i] for i in below))
        np.testing.assert_allclose(h.value(), np.array(expected_h), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(c.value(), np.array(expected_c), rtol=1e-4, atol=1e-5)


def test_structures_are_checked():
    with pytest.raises(esp.UsageError, match=r"an array \[rows"):
        esp.Structure.tree([0, 1])
    with pytest.raises(esp.UsageError, match="kind has 1 numbers, and there are 2 rows"):
        esp.Structure.tree([[-1], [0]], kind=[0])
    tree = esp.Recursion("t", [esp.Kind("leaf", 0, esp.tanh)])
    with esp.Graph() as g, pytest.raises(esp.UsageError):
        tree(g.rows([[1.0]]), [[5, 5]])


def test_an_error_in_a_kind_comes_through():
    def broken(x):
        raise KeyError("mine")

    tree = esp.Recursion("t", [esp.Kind("leaf", 0, broken)])
    with esp.Graph() as g, pytest.raises(KeyError, match="mine"):
        tree(g.rows([[1.0]]), [[-1]])
