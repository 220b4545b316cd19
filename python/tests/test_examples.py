"""The examples for Python run."""

import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).parents[2] / "examples" / "python"


@pytest.mark.parametrize("name", ["first_program.py", "own_cells.py", "tree_blocks.py"])
def test_examples_run(name):
    done = subprocess.run([sys.executable, FOLDER / name], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout
