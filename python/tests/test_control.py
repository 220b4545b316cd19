"""Values midway: generators and coroutines as instances."""

import numpy as np
import pytest

import espalier as esp


def halvings(start):
    x, steps = esp.input([start]), 0
    while (yield esp.sum(x)) > 1:
        x, steps = x * 0.5, steps + 1
    return steps


def expected(start):
    steps = 0
    while start > 1:
        start, steps = start / 2, steps + 1
    return steps


STARTS = [float(x) for x in (1, 8, 100, 3, 0, 1000)]


def test_generators_get_values_and_give_results():
    assert esp.run_batched(halvings, STARTS) == [expected(x) for x in STARTS]


def test_coroutines_do_the_same():
    async def halvings_async(start):
        x, steps = esp.input([start]), 0
        while await esp.sum(x) > 1:
            x, steps = x * 0.5, steps + 1
        return steps

    assert esp.run_batched(halvings_async, STARTS) == [expected(x) for x in STARTS]


def test_what_instances_wait_for_runs_together():
    with esp.Graph() as g:
        pass
    esp.run_batched(halvings, [8.0] * 20, graph=g)
    statistics = g.statistics()
    assert statistics.runs == 4
    assert statistics.steps <= 8


def test_a_graph_that_is_given_keeps_everything_for_a_backward():
    model = esp.Model()
    w = model.add("w", 1, init=2.0)

    def loss(x):
        y = esp.mul(w, esp.input([x]))
        if (yield esp.sum(y)) > 3:
            y = y * 10
        return esp.sum(y)

    with esp.Graph() as g:
        losses = esp.run_batched(loss, [1.0, 2.0], graph=g)
        assert losses[0].graph is g
        esp.sum(losses).backward()
    assert w.grad.tolist() == [21.0]


def test_arrays_argmax_and_samples():
    def instance(scores):
        x = esp.input(scores)
        array = yield x * 2
        best = yield esp.argmax(x)
        drawn = yield esp.sample(x)
        return array.tolist(), best, drawn

    array, best, drawn = esp.run_batched(instance, [[0.0, 100.0, 1.0]])[0]
    assert (array, best, drawn) == ([0.0, 200.0, 2.0], 1, 1)


def test_plain_functions_are_called_once_per_input():
    assert esp.run_batched(lambda x: x + 1, [1, 2, 3]) == [2, 3, 4]


def test_generators_can_call_generators():
    def inner(x):
        return (yield x)

    def outer(x):
        total = 0.0
        for _ in range(3):
            total += yield from inner(esp.sum(esp.input([x])))
        return total

    assert esp.run_batched(outer, [1.0, 2.0]) == [3.0, 6.0]


def test_an_exception_comes_out_as_it_is_and_others_are_closed():
    closed = []

    def instance(x):
        try:
            yield esp.sum(esp.input([float(x)]))
            if x == 2:
                raise KeyError("mine")
            yield esp.sum(esp.input([float(x)]))
            yield esp.sum(esp.input([float(x)]))
        finally:
            closed.append(x)

    with pytest.raises(KeyError, match="mine"):
        esp.run_batched(instance, range(5))
    assert sorted(closed) == [0, 1, 2, 3, 4]
    assert esp.run_batched(halvings, STARTS) == [expected(x) for x in STARTS]


def test_what_is_no_question_is_refused():
    def instance(x):
        yield 3

    with pytest.raises(esp.UsageError, match="may yield an Expr"):
        esp.run_batched(instance, [1])


def test_thousands_of_instances_in_bounded_memory():
    results = esp.run_batched(halvings, [float(1 + i % 50) for i in range(3000)], in_flight=64)
    assert results == [expected(float(1 + i % 50)) for i in range(3000)]
    assert np.mean(results) > 1
