"""Every public name of espalier.torch has a docstring, and the examples in docstrings run."""

import doctest
import inspect
import pathlib
import re
import textwrap

import espalier.torch as et
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
OBJECTS = {name: getattr(et, name) for name in et.__all__}


def own_methods(kind):
    """The public methods that a class of the package defines itself, with those of its package's bases."""
    return {name: member for base in kind.__mro__ if base.__module__.startswith("espalier.torch")
            for name, member in vars(base).items() if not name.startswith("_") and callable(member)}


@pytest.mark.parametrize("name", et.__all__)
def test_everything_public_is_documented(name):
    assert (OBJECTS[name].__doc__ or "").strip()


@pytest.mark.parametrize("name", [name for name, one in OBJECTS.items() if ">>>" in (one.__doc__ or "")])
def test_examples_in_docstrings_run(name):
    example = doctest.DocTestParser().get_doctest(OBJECTS[name].__doc__, {}, name, None, 0)
    report = []
    doctest.DocTestRunner().run(example, out=report.append)
    assert not report, "".join(report)


def test_there_are_examples():
    assert sum(">>>" in (one.__doc__ or "") for one in OBJECTS.values()) >= 5


def test_methods_of_batches_are_documented():
    assert [name for name, method in own_methods(et.Batch).items() if not inspect.getdoc(method)] == []


def snippets():
    text = (ROOT / "docs" / "from_pytorch.md").read_text()
    return re.findall(r"```python (\S+)\n(.*?)```", text, re.DOTALL)


def test_code_of_the_page_is_that_of_the_examples():
    assert len(snippets()) >= 4
    for file, code in snippets():
        lines = textwrap.dedent((ROOT / file).read_text()).splitlines()
        wanted = code.splitlines()
        assert any([line.strip() for line in lines[i : i + len(wanted)]] == [line.strip() for line in wanted]
                   for i in range(len(lines))), f"{file} has no such lines:\n{code}"
