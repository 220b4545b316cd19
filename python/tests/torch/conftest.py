"""The tests of espalier.torch need PyTorch: without it they are left out, and pytest says so."""

import importlib.util

HAS_TORCH = importlib.util.find_spec("torch") is not None
collect_ignore_glob = [] if HAS_TORCH else ["test_*.py"]


def pytest_terminal_summary(terminalreporter):
    if not HAS_TORCH:
        terminalreporter.write_line("PyTorch is not installed: the tests of espalier.torch were left out")
