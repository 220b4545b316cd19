"""Errors are Python exceptions, and name the Python file and line."""

import inspect

import pytest

import espalier as esp


def line_of(caller, text):
    """The line of a function that contains a text."""
    lines, first = inspect.getsourcelines(caller)
    return first + next(i for i, line in enumerate(lines) if text in line and "line_of" not in line)


def test_kinds_of_errors_are_the_usual_exceptions():
    assert issubclass(esp.UsageError, ValueError)
    assert issubclass(esp.DataError, ValueError)
    assert issubclass(esp.ResourceError, RuntimeError)
    assert issubclass(esp.CellError, esp.UsageError)
    for kind in (esp.UsageError, esp.DataError, esp.ResourceError, esp.InternalError):
        assert issubclass(kind, esp.Error)


def test_an_error_names_the_line_of_the_call_and_of_each_operand():
    g = esp.Graph()
    a = g.input([1.0, 2.0])  # the first
    b = g.input([1.0, 2.0, 3.0])  # the second
    with pytest.raises(ValueError) as caught:
        a * b  # the product
    text = str(caught.value)
    here = test_an_error_names_the_line_of_the_call_and_of_each_operand
    for mark in ("# the first", "# the second"):
        assert f"test_errors.py:{line_of(here, mark)}" in text, text
    assert text.splitlines()[0].startswith("mul: ")


def test_lines_are_those_of_a_loop_and_of_a_function():
    g = esp.Graph()

    def deep():
        return g.input([1.0])  # made deep inside

    for _ in range(2):
        x = deep()
    assert f"test_errors.py:{line_of(test_lines_are_those_of_a_loop_and_of_a_function, '# made deep')}" in error_of(x)


def error_of(x):
    with pytest.raises(esp.UsageError) as caught:
        esp.linear(x, [[1.0, 2.0], [3.0, 4.0]])
    return str(caught.value)


def test_code_made_at_run_time_has_lines_too():
    g = esp.Graph()
    for i in range(20):  # each has another code object, some at the same address
        space = {"g": g}
        exec(compile("\n" * i + "x = g.input([1.0])", f"made_{i}.py", "exec"), space)
        assert f"made_{i}.py:{i + 1}" in error_of(space["x"])
        del space


def test_a_stale_expr_is_refused_by_name():
    g = esp.Graph()
    x = g.input([1.0])
    g.clear()
    with pytest.raises(esp.UsageError, match="tanh: .*cleared"):
        esp.tanh(x)
    assert "cleared" in repr(x)


def test_an_exception_leaves_the_graph_as_it_was():
    g = esp.Graph()
    x = g.input([1.0, 2.0])
    nodes = len(g)
    for _ in range(3):
        with pytest.raises(esp.UsageError):
            esp.linear(x, g.parameter(esp.Model().add("w", (3, 3))))
    assert esp.tanh(x).value().shape == (2,)
    assert len(g) <= nodes + 4
