"""Refusals, and errors of cells: each names the cell and the call."""

import inspect
import traceback

import espalier
import espalier.torch as et
import pytest
import torch


def here():
    return inspect.currentframe().f_back.f_lineno


def test_an_error_in_a_cell_names_the_call_of_the_row_that_fails():
    def root(x):
        if bool((x < 0).any()):
            raise ArithmeticError("there is a negative number")
        return x.sqrt()

    cell = et.cell(root)
    with pytest.raises(ArithmeticError) as caught, et.batch() as b:
        cell(torch.ones(1))
        for number in (1.0, 2.0, -1.0, 3.0):
            b.begin_instance()
            if number < 0:
                line = here() + 1
                cell(et.constant([number]))
            else:
                cell(et.constant([number]))
    text = "".join(traceback.format_exception_only(caught.value))
    assert f"in cell 'root', recorded at {__file__}:{line}, in instance 2 of 4, one of 5 calls" in text


def test_after_an_error_the_values_of_the_batch_say_so():
    double = et.cell(lambda x: 2 * x, name="double")
    with pytest.raises(KeyError), et.batch():
        value = double(torch.ones(1))
        raise KeyError
    with pytest.raises(espalier.UsageError, match="ended with an error before it ran"):
        value.value()


def test_batch_norm_in_training_is_refused_by_name():
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = torch.nn.BatchNorm1d(2)

        def forward(self, x):
            return self.norm(x)

    block = Block()
    cell = et.cell(block)
    with pytest.raises(espalier.UsageError, match=r"cell 'Block': 'norm' \(BatchNorm1d\) computes statistics"):
        with et.batch():
            cell(torch.ones(2))
    block.eval()
    with et.batch():
        answer = cell(torch.ones(2))
    torch.testing.assert_close(answer.value(), block(torch.ones(1, 2))[0])
    block.train()
    with pytest.raises(espalier.UsageError, match="BatchNorm1d"), et.batch():
        cell(torch.ones(2))


def test_batch_norm_is_seen_through_functions_and_methods():
    norm = torch.nn.BatchNorm1d(2)
    cell = et.cell(lambda x: norm(x), name="captured")
    with pytest.raises(espalier.UsageError, match=r"'norm' \(BatchNorm1d\)"), et.batch():
        cell(torch.ones(2))


def test_modules_with_another_first_axis_are_warned_of():
    attention = torch.nn.MultiheadAttention(4, 1)
    cell = et.cell(lambda x: attention(x, x, x)[0], name="attend")
    with pytest.warns(et.RowsWarning, match=r"cell 'attend': 'attention' \(MultiheadAttention\) has batch_first=False"):
        with et.batch():
            cell(torch.ones(3, 4))


@pytest.mark.parametrize("function, message", [
    (lambda x: x.mean(0), r"was called with 13 rows and returned shape \[2\]; its first axis must be that of the rows"),
    (lambda x: 3, "returned no tensor"),
    (lambda x: x.add_(1), "changes an argument in place"),
    (lambda x: x[:, : 1 + (x.shape[0] == 1)], r"gave torch.float32 of shape \[1, 2\] for 1 rows"),
])
def test_functions_that_are_no_cells_are_refused(function, message):
    cell = et.cell(function, name="wrong")
    with pytest.raises(espalier.UsageError, match=f"cell 'wrong'.*{message}"), et.batch():
        cell(torch.ones(2))


def test_calls_without_operands_or_with_unhashable_arguments_are_refused():
    cell = et.cell(lambda *args: args[0], name="first")
    with et.batch():
        with pytest.raises(espalier.UsageError, match="called without a tensor or Value"):
            cell(1)
        with pytest.raises(espalier.UsageError, match="must be hashable.*set is not"):
            cell(torch.ones(1), {1, 2})


def test_values_of_another_batch_are_refused():
    double = et.cell(lambda x: 2 * x, name="double")
    with et.batch():
        value = double(torch.ones(1))
    with et.batch(), pytest.raises(espalier.UsageError, match="cell 'double': an argument is a Value of another batch"):
        double(value)
    with pytest.raises(espalier.UsageError, match="'double' is called outside"):
        double(value)


def test_lists_refuse_none_and_different_shapes():
    with et.batch():
        with pytest.raises(espalier.UsageError, match=r"et.sum\(\) of no Values"):
            et.sum([])
        with pytest.raises(espalier.UsageError, match=r"Values 0 and 1 of the list differ: float32\[\] and"):
            et.max([et.constant(1.0), et.constant([1.0])])


def test_functions_in_place_and_unknown_names_are_refused():
    with et.batch():
        value = et.constant([1.0])
        with pytest.raises(espalier.UsageError, match="add_ changes its argument in place"):
            value.add_(1)
        with pytest.raises(AttributeError, match="a Value has no attribute 'colour'"):
            value.colour  # noqa: B018


def test_an_unknown_strategy_and_a_batch_inside_a_cell_are_refused():
    with pytest.raises(espalier.UsageError, match="there is no strategy 'best'; there are "):
        et.batch("best")

    def nested(x):
        with et.batch():
            return x

    with pytest.raises(espalier.UsageError, match="a batch begins inside a cell"), et.batch():
        et.cell(nested)(torch.ones(1))


def test_errors_of_shapes_are_the_users_own():
    linear = et.cell(torch.nn.Linear(4, 4))
    with pytest.raises(RuntimeError, match="mat1 and mat2"), et.batch():
        linear(torch.ones(3))
