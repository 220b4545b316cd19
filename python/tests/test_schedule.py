"""The scheduler from Python: integers in, steps out."""

import array
import gc

import numpy as np
import pytest

import espalier as esp


def ints(*numbers):
    return np.array(numbers, np.int32)


# Leaves 0 and 1 with their parent 2, leaf 3 with its parent 4.
SIGNATURE, INPUT_BEGIN, INPUTS = ints(0, 0, 1, 0, 1), ints(0, 0, 0, 2, 2, 3), ints(0, 1, 3)


def check(schedule, signature, input_begin, inputs):
    step_of = {int(node): i for i, step in enumerate(schedule) for node in step}
    assert sorted(step_of) == list(range(len(signature)))
    for step in schedule:
        assert len({int(signature[node]) for node in step}) == 1
    for node in range(len(signature)):
        for i in inputs[input_begin[node] : input_begin[node + 1]]:
            assert step_of[int(i)] < step_of[node]


def random_graph(rng, nodes, signatures):
    lists = [rng.integers(0, node, size=rng.integers(0, 3)) if node else [] for node in range(nodes)]
    input_begin = np.cumsum([0] + [len(i) for i in lists]).astype(np.int32)
    inputs = np.concatenate([np.asarray(i, np.int32) for i in lists])
    return rng.integers(0, signatures, size=nodes).astype(np.int32), input_begin, inputs.astype(np.int32)


def test_nodes_of_equal_signature_share_a_step():
    schedule = esp.schedule(SIGNATURE, INPUT_BEGIN, INPUTS)
    assert [step.tolist() for step in schedule] == [[0, 1, 3], [2, 4]]
    assert (schedule.bound, schedule.bound_is_exact, schedule.forced) == (2, True, 0)


@pytest.mark.parametrize("strategy", esp.strategies)
def test_every_strategy_gives_a_schedule_no_shorter_than_the_bound(strategy):
    rng = np.random.default_rng(7)
    for _ in range(50):
        graph = random_graph(rng, int(rng.integers(1, 60)), int(rng.integers(1, 6)))
        schedule = esp.schedule(*graph, strategy=strategy)
        check(schedule, *graph)
        assert len(schedule) >= schedule.bound


def test_a_function_of_python_is_a_strategy():
    def by_depth(signature, input_begin, inputs):
        depth = np.zeros(len(signature), np.int32)
        for node in range(len(signature)):
            for i in inputs[input_begin[node] : input_begin[node + 1]]:
                depth[node] = max(depth[node], depth[i] + 1)
        return depth

    assert len(esp.schedule(SIGNATURE, INPUT_BEGIN, INPUTS, strategy=by_depth)) == 2
    with pytest.raises(esp.UsageError):
        esp.schedule(SIGNATURE, INPUT_BEGIN, INPUTS, strategy=lambda s, b, i: np.zeros(5, np.int32))


def test_errors_of_a_strategy_in_python_come_through():
    def broken(signature, input_begin, inputs):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        esp.schedule(SIGNATURE, INPUT_BEGIN, INPUTS, strategy=broken)


def test_anything_with_a_buffer_of_int32_will_do():
    schedule = esp.schedule(array.array("i", [0, 0]), array.array("i", [0, 0, 1]), array.array("i", [0]))
    assert len(schedule) == 2


def test_arrays_are_read_only_and_outlive_the_schedule():
    order = esp.schedule(SIGNATURE, INPUT_BEGIN, INPUTS).order
    gc.collect()
    assert sorted(order.tolist()) == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError):
        order[0] = 7


@pytest.mark.parametrize(
    ("signature", "input_begin", "inputs", "text"),
    [
        (ints(0, 0), ints(0, 0), ints(), "input_begin has 2 numbers"),
        (ints(0, 0), ints(0, 0, 1), ints(), "must go from 0 to the number of inputs"),
        (ints(0, 0, 0), ints(0, 1, 0, 1), ints(0), "must not fall"),
        (ints(0, -1), ints(0, 0, 0), ints(), "has signature -1"),
        (ints(0, 0), ints(0, 0, 1), ints(1), "node 1 has input 1; inputs are nodes before it"),
    ],
)
def test_arrays_that_are_no_graph_are_refused(signature, input_begin, inputs, text):
    with pytest.raises(ValueError, match=text) as caught:
        esp.schedule(signature, input_begin, inputs)
    assert isinstance(caught.value, esp.UsageError)


def test_an_unknown_strategy_gets_the_nearest_name():
    with pytest.raises(esp.UsageError, match="frontier"):
        esp.schedule(SIGNATURE, INPUT_BEGIN, INPUTS, strategy="frontire")


def test_an_empty_graph_has_no_steps():
    assert len(esp.schedule(ints(), ints(0), ints())) == 0
