"""The examples learn, and equal the loops beside them (which their training checks first)."""

import importlib
import pathlib

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples" / "python"
NAMES = ("first_batch", "tree_lstm", "child_sum", "tagger", "lattice", "molecules", "parser")


@pytest.mark.parametrize("name", NAMES)
def test_example_learns(name, monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    first, last = importlib.import_module(name).main()
    assert last < first / 2
