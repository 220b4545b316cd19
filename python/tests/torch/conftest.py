"""The tests of espalier.torch need PyTorch: without it they are left out, and pytest says so."""

import importlib.util

_found = importlib.util.find_spec("torch")
HAS_TORCH = _found is not None and _found.origin is not None  # not this folder, which has the name too
collect_ignore_glob = [] if HAS_TORCH else ["test_*.py"]


def pytest_terminal_summary(terminalreporter):
    if not HAS_TORCH:
        terminalreporter.write_line("PyTorch is not installed: the tests of espalier.torch were left out")
