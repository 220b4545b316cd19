"""Batches: steps, statistics, values midway, gradients, and memory."""

import collections
import gc
import html.parser
import inspect
import sys
import threading
import weakref

import espalier
import espalier.torch as et
import pytest
import torch


def double(x):
    return 2 * x


def tree(node, leaf, depth):
    return leaf(float(depth)) if depth == 0 else node(tree(node, leaf, depth - 1), tree(node, leaf, 0))


def test_steps_are_as_few_as_any_schedule_has():
    node = et.cell(lambda x, y: x + y, name="node")
    with et.batch() as b:
        roots = [tree(node, et.constant, depth) for depth in range(1, 6)]
    statistics = b.statistics()
    assert (statistics.nodes, statistics.steps, statistics.bound, statistics.forced) == (35, 6, 6, 0)
    assert [root.item() for root in roots] == [0.0] * 5


@pytest.mark.parametrize("strategy, steps", [("none", 6), ("depth", 2), ("agenda", 2), ("frontier", 2)])
def test_strategies_group_calls(strategy, steps):
    cell = et.cell(double)
    with et.batch(strategy) as b:
        values = [cell(et.constant(float(i))) for i in range(3)]
    assert (b.statistics().steps, [value.item() for value in values]) == (steps, [0.0, 2.0, 4.0])


def test_a_chain_of_equally_long_sequences_copies_nothing():
    cell = et.cell(lambda h: h + 1)
    with et.batch() as b:
        values = [et.constant(float(i)) for i in range(8)]
        for _ in range(10):
            values = [cell(value) for value in values]
    assert b.statistics().copied_rows == 0
    assert [value.item() for value in values] == [10.0 + i for i in range(8)]


def test_rows_of_binary_trees_are_read_once():
    node = et.cell(lambda x, y: x + y, name="node")
    with et.batch() as b:
        for depth in range(1, 6):
            tree(node, et.constant, depth)
    # Of 30 operands, each is at most concatenated and put into order.
    assert b.statistics().copied_rows <= 60


def test_explain_names_steps_instances_and_lines():
    cell = et.cell(double)
    with et.batch() as b:
        for i in range(3):
            b.begin_instance()
            line = inspect.currentframe().f_lineno + 1
            cell(et.constant(float(i)))
    assert b.explain() == f"""\
6 nodes of 3 instances in 2 steps of 1 run, by 'frontier'; no schedule has fewer than 2
run 0:
  step 0: 3 nodes of 3 instances: constant() -> float32[]  test_torch_batch.py:{line}
  step 1: 3 nodes of 3 instances: double(float32[]) -> float32[]  test_torch_batch.py:{line}
"""


class Elements(html.parser.HTMLParser):
    """Counts elements, and refuses those that load or run something."""

    def __init__(self, text):
        super().__init__()
        self.counts = collections.Counter()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        assert tag not in ("script", "link", "img", "iframe") and not dict(attributes).keys() & {"src", "href"}
        self.counts[tag] += 1


def test_the_page_has_a_bar_for_each_step_and_escapes_names(tmp_path):
    cell = et.cell(double, name="<script>double</script>")
    with et.batch() as b:
        for i in range(3):
            b.begin_instance()
            cell(et.constant(float(i)))
    b.write_page(tmp_path / "page.html", "Doubles & more")
    text = (tmp_path / "page.html").read_text()
    elements = Elements(text)
    assert elements.counts["div"] == 1 + 2 and elements.counts["tr"] == 1 + 2
    assert "<title>Doubles &amp; more</title>" in text and "6 nodes of 3 instances in 2 steps" in text
    assert b._repr_html_() in text


def test_asking_for_a_value_runs_what_is_recorded_and_recording_goes_on():
    cell = et.cell(double)
    with et.batch() as b:
        first = cell(et.constant(1.0))
        assert first.item() == 2 and bool(first > 1) and float(first) == 2.0
        second = cell(first)
        third = cell(second)
        assert b.run(second, [third])[1][0].item() == 8
    assert b.statistics().runs == 3


def test_leaving_the_block_runs_the_rest():
    with et.batch() as b:
        value = et.cell(double)(et.constant(3.0))
    assert b.statistics().runs == 1 and value.item() == 6
    with pytest.raises(espalier.UsageError, match="outside"):
        et.constant(1.0)


def test_batches_nest():
    cell = et.cell(double)
    with et.batch() as outer:
        a = cell(et.constant(1.0))
        with et.batch() as inner:
            c = cell(et.constant(2.0))
        d = cell(a)
    assert (inner.run(c).item(), outer.run(d).item()) == (4, 4)


def test_second_derivatives_and_partial_gradients():
    cube = et.cell(lambda x: x**3)
    inputs = [torch.tensor([float(i)], dtype=torch.float64, requires_grad=True) for i in (1, 2, 3)]
    with et.batch() as b:
        total = b.run(et.sum([cube(x) * cube(x) for x in inputs]))
    (first,) = torch.autograd.grad(total, inputs[1], create_graph=True)
    assert first.item() == 6 * 2**5
    (second,) = torch.autograd.grad(first, inputs[1])
    assert second.item() == 30 * 2**4


def test_gradients_of_many_single_values():
    cell = et.cell(double)
    inputs = torch.ones(20, requires_grad=True)
    with et.batch():
        values = [cell(x) for x in inputs]
    sum(i * value.value() for i, value in enumerate(values)).backward()
    assert inputs.grad.tolist() == [2.0 * i for i in range(20)]


def test_hooks_see_each_step_once():
    calls = []
    module = torch.nn.Linear(2, 2)
    module.register_forward_hook(lambda _, args, __: calls.append(len(args[0])))
    cell = et.cell(module)
    with et.batch():
        for _ in range(5):
            cell(torch.ones(2))
    assert calls == [5]


def test_lists_of_any_length_run_together():
    with et.batch() as b:
        values = [et.constant([float(i), -float(i)]) for i in range(6)]
        sums = [et.sum(values[:n]) for n in (1, 3, 6)]
        means = [et.mean(values[:n]) for n in (1, 3, 6)]
        largest = [et.max(values[:n]) for n in (1, 3, 6)]
    assert [value.tolist() for value in sums] == [[0, 0], [3, -3], [15, -15]]
    assert [value.tolist() for value in means] == [[0, 0], [1, -1], [2.5, -2.5]]
    assert [value.tolist() for value in largest] == [[0, 0], [2, 0], [5, 0]]
    assert b.statistics().steps == 4


def test_instances_that_wait_go_on_together():
    half = et.cell(lambda x: x / 2)

    def halvings(x):
        x, count = et.constant(x), 0
        while (yield x) > 1:
            x, count = half(x), count + 1
        return count, x

    batch = et.batch()
    answers = et.run_batched(halvings, [1.0, 4.0, 1000.0], batch=batch)
    assert [count for count, _ in answers] == [0, 2, 10]
    assert [x.item() for _, x in answers] == [1, 1, 1000 / 1024]
    assert batch.statistics().runs == 11 and batch.statistics().instances == 3


def test_coroutines_and_plain_functions_are_instances_too():
    half = et.cell(lambda x: x / 2)

    async def once(x):
        tensor = await half(et.constant(x))
        return tensor.item(), half(et.constant(tensor.item()))

    assert [(a, c.item()) for a, c in et.run_batched(once, [2.0, 4.0])] == [(1, 0.5), (2, 1)]
    assert [x.item() for x in et.run_batched(lambda x: half(et.constant(x)), [2.0, 4.0])] == [1, 2]


def test_an_error_in_one_instance_ends_the_others():
    ended = []

    def instance(x):
        try:
            yield et.constant(x)
            if x == 2:
                raise KeyError("two")
        finally:
            ended.append(x)

    with pytest.raises(KeyError, match="two"):
        et.run_batched(instance, [1.0, 2.0, 3.0])
    assert ended == [1.0, 2.0, 3.0]


def test_values_midway_have_gradients():
    cell = et.cell(double)
    x = torch.ones(1, requires_grad=True)
    with et.batch() as b:
        first = cell(x)
        b.run(first)
        second = cell(first)
        total = b.run(et.sum([first, second]))
    total.backward()
    assert x.grad.item() == 6


def some_batch(cell, fail):
    with et.batch() as b:
        values = [cell(cell(et.constant(float(i)))) for i in range(3)]
        if fail:
            raise KeyError
        return b.run(et.sum(values)), weakref.ref(b)


def test_memory_is_steady_over_batches_and_exceptions():
    cell = et.cell(double)
    weight = torch.ones((), requires_grad=True)
    scaled = et.cell(lambda x: x * weight)
    some_batch(scaled, False)
    gc.collect()
    gc.disable()
    try:
        _, batch = some_batch(scaled, False)
        assert batch() is None, "a batch is kept by a cycle"
        before = sys.getallocatedblocks()
        for i in range(10_000):
            try:
                some_batch(cell, i % 10 == 9)
            except KeyError:
                pass
        after = sys.getallocatedblocks()
    finally:
        gc.enable()
    assert after - before < 1000


def test_models_with_cells_are_freed():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(2, 2)
            self.leaf = et.cell(torch.nn.Linear(2, 2))

        @et.cell
        def node(self, x):
            return {"h": self.linear(x)}

    net = Net()
    with et.batch() as b:
        net.last = net.node(net.leaf(torch.ones(2)))["h"] * 2  # a model that keeps a Value
    ended = weakref.ref(net)
    del net, b
    gc.collect()
    assert ended() is None


def test_the_twin_runs_calls_one_by_one():
    cell = et.cell(double)
    with et.unbatched() as b:
        value = cell(et.constant(2.0))
        assert b.run(value).item() == 4
        cell(value)
    assert b.statistics().steps == b.statistics().nodes == 3


def test_threads_record_batches_of_their_own():
    cell = et.cell(double)
    answers = {}

    def work(number):
        for _ in range(20):
            with et.batch():
                value = cell(cell(et.constant(float(number))))
            answers[number] = value.item()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {number: 4.0 * number for number in range(4)}


def test_one_transfer_brings_everything_to_the_device():
    from espalier.torch.joined import transfer

    tensors = [torch.arange(5), torch.tensor([[0.5], [1.5]]), torch.tensor([True, False, True]), torch.tensor(2j)]
    for moved, tensor in zip(transfer(tensors, torch.device("cpu")), tensors):
        assert moved.dtype == tensor.dtype and torch.equal(moved, tensor)
    with et.batch(device="meta") as b:
        value = et.cell(double)(et.constant([1.0, 2.0]))
        many = et.sum([value, value + 1, et.constant(torch.ones(2))])
    assert b.run(many).device.type == "meta" and b.run(many).shape == (2,)
