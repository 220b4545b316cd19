"""Every public name has a docstring, and the examples in docstrings run."""

import doctest
import inspect
import types

import pytest

import espalier as esp

MODULES = [esp, esp.blocks, esp.nn, esp.optim, esp.init, esp.models]


def public_names(module):
    return [n for n in dir(module) if not n.startswith("_") and not isinstance(getattr(module, n), types.ModuleType)]


def objects():
    """Every public object and method, by its full name."""
    for module in MODULES:
        yield module.__name__, module
        for name in public_names(module):
            value = getattr(module, name)
            if isinstance(value, str | tuple):
                continue
            yield f"{module.__name__}.{name}", value
            if inspect.isclass(value):
                for method in dir(value):
                    if not method.startswith("_") and not issubclass(value, BaseException):
                        yield f"{module.__name__}.{name}.{method}", inspect.getattr_static(value, method)


OBJECTS = dict(objects())


@pytest.mark.parametrize("name", OBJECTS)
def test_everything_public_is_documented(name):
    assert (OBJECTS[name].__doc__ or "").strip(), name


@pytest.mark.parametrize("name", [n for n, o in OBJECTS.items() if ">>>" in (o.__doc__ or "")])
def test_examples_in_docstrings_run(name):
    example = doctest.DocTestParser().get_doctest(OBJECTS[name].__doc__, {}, name, None, 0)
    report = []
    doctest.DocTestRunner().run(example, out=report.append)
    assert not report, "".join(report)


def test_there_are_examples():
    assert sum(">>>" in (o.__doc__ or "") for o in OBJECTS.values()) >= 8
