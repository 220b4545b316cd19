"""Cells: what can be one, how it is called, and that modules stay as they are."""

import copy
import gc
import pickle
import weakref

import espalier
import espalier.torch as et
import pytest
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.leaf = et.cell(torch.nn.Linear(4, 4))
        self.words = et.lookup(torch.nn.Embedding(5, 4))

    @et.cell
    def node(self, x, y):
        """A node."""
        return torch.tanh(self.linear(x) + y)

    def forward(self, length):
        x = self.leaf(self.words(length % 5))
        for _ in range(length):
            x = self.node(x, self.words(1))
        return x


class PlainNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.leaf = torch.nn.Linear(4, 4)
        self.words = torch.nn.Embedding(5, 4)


def run(net, length=3):
    with et.batch():
        answer = net(length)
    return answer.value()


def test_names_of_weights_are_those_without_cells():
    net, plain = Net(), PlainNet()
    assert list(net.state_dict()) == list(plain.state_dict())
    assert [name for name, _ in net.named_parameters()] == [name for name, _ in plain.named_parameters()]
    net.load_state_dict(plain.state_dict())
    assert torch.equal(net.leaf.module.weight, plain.leaf.weight)
    plain.load_state_dict(net.state_dict())


def test_cells_follow_train_eval_to_and_attributes_of_their_modules():
    dropout = torch.nn.Dropout(0.5)
    net = torch.nn.Sequential(et.cell(torch.nn.Linear(4, 4)), et.cell(dropout))
    net.eval()
    assert not dropout.training
    net.train()
    assert dropout.training
    net.to(torch.float64)
    assert net[0].module.weight.dtype is torch.float64
    assert net[0].in_features == 4
    assert "Linear" in repr(net)


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_models_with_cells_are_copied_and_pickled(clone):
    net = Net()
    answer = run(net)  # cells are bound, and have signatures
    other = clone(net)
    assert torch.equal(run(other), answer)
    with torch.no_grad():
        other.linear.weight.add_(1)
        other.leaf.module.weight.add_(1)
    assert not torch.equal(run(other), answer)
    assert torch.equal(run(net), answer)


def test_a_cell_keeps_name_and_doc():
    assert Net.node.__doc__ == "A node."
    assert Net.node.cell_name == "node"
    assert et.cell(torch.nn.Linear(2, 2)).cell_name == "Linear"
    assert et.cell(torch.tanh, name="squash").cell_name == "squash"


def test_outside_of_a_batch_a_cell_says_so_and_rows_calls_it():
    double = et.cell(lambda x: 2 * x, name="double")
    with pytest.raises(espalier.UsageError, match=r"cell 'double' is called outside of `with et.batch\(\)`"):
        double(torch.ones(3))
    assert torch.equal(double.rows(torch.ones(2, 3)), 2 * torch.ones(2, 3))


def test_a_cell_inside_a_cell_is_called_with_rows():
    inner = et.cell(lambda x: x + x.shape[0])
    outer = et.cell(lambda x: inner(x) * 2)
    with et.batch() as b:
        answers = [outer(torch.zeros(2)) for _ in range(3)]
    assert all(torch.equal(b.run(answer), torch.full((2,), 6.0)) for answer in answers)


def test_results_keep_their_structure():
    @et.cell
    def parts(x):
        return {"sum": x.sum(1), "pair": [x, None], "more": (x[:, :1], 3)}

    with et.batch() as b:
        answer = parts(torch.tensor([1.0, 2.0]))
        tensors = b.run(answer)
    assert isinstance(answer["sum"], et.Value) and answer["pair"][1] is None and answer["more"][1] == 3
    assert tensors["sum"].item() == 3 and tensors["more"][0].tolist() == [1]


def test_arguments_may_be_nested_and_python_arguments_divide():
    @et.cell
    def sums(xs, *, factor):
        return (xs["a"] + xs["b"][0]) * factor

    with et.batch() as b:
        x = et.constant([1.0, 2.0])
        answers = b.run([sums({"a": x, "b": [x]}, factor=factor) for factor in (1, 1, 2)])
    assert [answer.tolist() for answer in answers] == [[2, 4], [2, 4], [4, 8]]
    assert b.statistics().steps == 3
    assert "3 calls of sums(float32[2], float32[2]) -> float32[2] have 2 signatures" in b.explain()


def test_equal_numbers_of_other_types_are_other_arguments():
    power = et.cell(lambda x, n: x.to(type(n) is float and torch.float64 or torch.float32))
    with et.batch() as b:
        a, c = b.run(power(torch.ones(1), 1), power(torch.ones(1), 1.0))
    assert (a.dtype, c.dtype) == (torch.float32, torch.float64)


def test_a_tensor_that_is_passed_often_is_one_constant():
    start = torch.nn.Parameter(torch.ones(3))
    double = et.cell(lambda x: 2 * x)
    with et.batch() as b:
        total = b.run(et.sum([double(start).sum() for _ in range(5)]))
    total.backward()
    assert start.grad.tolist() == [10, 10, 10]
    assert b.statistics().nodes == 1 + 5 + 5 + 1


def test_constants_of_all_kinds():
    import numpy

    with et.batch() as b:
        constants = [et.constant(7), et.constant(0.5), et.constant(True), et.constant([1, 2]),
                     et.constant(numpy.arange(3.0)), et.constant(torch.tensor([1j]))]
        tensors = b.run(constants)
    assert [tensor.dtype for tensor in tensors] == [torch.int64, torch.float32, torch.bool, torch.int64, torch.float64,
                                                    torch.complex64]
    assert [tensor.tolist() for tensor in tensors] == [7, 0.5, True, [1, 2], [0, 1, 2], [1j]]


def test_lookups_give_rows_and_their_gradients():
    table = torch.nn.Parameter(torch.arange(6.0).view(3, 2))
    rows = et.lookup(table)
    with et.batch() as b:
        values = [rows(i) for i in (2, 0, 2)]
        some = b.run(values)
    assert [row.tolist() for row in some] == [[4, 5], [0, 1], [4, 5]]
    assert b.statistics().steps == 1
    sum(row.sum() for row in some).backward()
    assert table.grad.tolist() == [[1, 1], [0, 0], [2, 2]]


def test_values_are_arguments_of_functions_and_operators():
    with et.batch() as b:
        v = et.constant([1.0, 2.0, 3.0])
        first, *_ = v
        got = b.run(v.tanh(), torch.stack([v, -v]).sum(1)[:1], v.view(3, 1) @ v.view(1, 3), 2 - v, v**2, 2**v, v > 1,
                    v / v, 1 / v, v.softmax(0), torch.nn.functional.relu(v - 2), first,
                    v.view(3, 1).T, torch.ones(3) - v)
    t = torch.tensor([1.0, 2.0, 3.0])
    want = (t.tanh(), torch.stack([t, -t]).sum(1)[:1], t.view(3, 1) @ t.view(1, 3), 2 - t, t**2, 2**t, t > 1, t / t,
            1 / t, t.softmax(0), torch.nn.functional.relu(t - 2), t[0], t.view(3, 1).T, 1 - t)
    for one, other in zip(got, want, strict=True):
        torch.testing.assert_close(one, other)


def test_numbers_that_differ_everywhere_are_data_of_arithmetic():
    numbers = [0.1 * i for i in range(40)]
    with et.batch() as b:
        v = et.constant([1.0, 2.0])
        values = [function(v, number) for number in numbers
                  for function in (lambda x, n: x * n, lambda x, n: n - x, lambda x, n: n / x)]
        got = b.run(values)
    t = torch.tensor([1.0, 2.0])
    want = [one for number in numbers for one in (t * number, number - t, number / t)]
    torch.testing.assert_close(got, want)
    assert b.statistics().steps <= 2 + 3 * 9
    with et.batch() as b:
        assert b.run(et.constant(3) * 0.123).dtype is torch.float32


def test_operations_promote_types_as_for_one_instance():
    with et.batch() as b:
        got = b.run([et.constant(torch.tensor(2.0, dtype=torch.float64)) * et.constant([1.0]) for _ in range(2)])
        assert got[0].dtype is torch.float32
        assert b.run(et.constant(3) * et.constant([0.5])).item() == 1.5


def test_operations_do_not_keep_parameters():
    weight = torch.nn.Parameter(torch.ones(2, 2))
    with et.batch() as b:
        values = [weight @ et.constant([1.0, float(i)]) for i in range(3)]
    assert b.run(values)[2].tolist() == [3, 3] and b.statistics().steps == 2
    ended = weakref.ref(weight)
    del weight, values, b
    gc.collect()
    assert ended() is None


def test_signatures_are_not_kept_without_end():
    cell = et.cell(lambda x, text: x, name="same")
    cell._signatures.update({("kept", i): None for i in range(4096)})
    with et.batch() as b:
        values = [cell(torch.ones(1), str(i)) for i in range(3)]
    assert len(cell._signatures) == 3 and b.run(values[2]).item() == 1


def test_a_value_knows_its_shape_without_running():
    with et.batch() as b:
        v = et.cell(torch.nn.Linear(4, 3))(torch.ones(2, 4))
        assert (v.shape, v.dtype, v.ndim, len(v), v.device.type) == ((2, 3), torch.float32, 2, 2, "cpu")
        assert b.statistics().runs == 0


def test_shapes_are_found_without_hooks_or_random_numbers():
    calls = []
    module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(0.5))
    module[0].register_forward_hook(lambda *_: calls.append(1))
    square = et.cell(module)
    torch.manual_seed(1)
    state = torch.get_rng_state()
    with et.batch() as b:
        values = [square(torch.ones(2)) for _ in range(4)]
        assert torch.equal(torch.get_rng_state(), state) and not calls
        b.run(values)
    assert calls == [1]


def test_a_cell_that_looks_at_numbers_is_run_with_zeros_for_its_shapes():
    @et.cell
    def halved(x):
        return x / 2 if float(x.sum()) > 4 else x

    with et.batch():
        answer = halved(torch.full((2,), 3.0))
    assert answer.tolist() == [1.5, 1.5]


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_a_call_runs_in_the_mode_in_which_it_was_recorded(mode):
    linear = et.cell(torch.nn.Linear(2, 2))
    with et.batch() as b:
        with mode():
            without = linear(torch.ones(2))
        with_gradient = linear(torch.ones(2))
    assert not b.run(without).requires_grad and b.run(with_gradient).requires_grad
    assert b.run(without).is_inference() == (mode is torch.inference_mode)


def test_autocast_is_part_of_the_signature():
    linear = et.cell(torch.nn.Linear(2, 2))
    with et.batch():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            low = linear(torch.ones(2))
        full = linear(torch.ones(2))
    assert (low.value().dtype, full.value().dtype) == (torch.bfloat16, torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16), et.batch():
        low = linear(torch.ones(2))
    assert low.value().dtype is torch.bfloat16
