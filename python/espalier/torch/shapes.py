"""The shapes of a cell's results, found once for each signature, with tensors that have no numbers."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable

import torch
from espalier.torch.kinds import Kind
from torch._subclasses.fake_tensor import FakeTensorMode

# Not a size that a cell is likely to have, so that an axis that is not that of the rows is seen.
ROWS = 13

_tracing = threading.Lock()


def infer(call: Callable, kinds: Iterable[Kind], modules: Iterable[torch.nn.Module]):
    """What `call` gives for tensors of 13 rows of these kinds. It must not look at numbers; if it does, or needs an
    operation that the meta device lacks, it is called with zeros."""
    kinds = list(kinds)
    try:
        with _tracing, _without_hooks(modules), FakeTensorMode(allow_non_fake_inputs=True):
            return call([torch.empty(kind.rows(ROWS), dtype=kind.dtype, device=kind.device) for kind in kinds])
    except Exception:
        # Whatever is wrong with the call itself, zeros will show again, in the user's own words.
        try:
            with torch.random.fork_rng(), _without_hooks(modules):
                return call([torch.zeros(kind.rows(ROWS), dtype=kind.dtype, device=kind.device) for kind in kinds])
        except Exception as error:
            error.add_note(f"while the shapes of a cell's results were found, with {ROWS} rows of zeros: "
                           + ", ".join(map(str, kinds)))
            raise error from None


@contextlib.contextmanager
def _without_hooks(modules: Iterable[torch.nn.Module]):
    """Hooks of the user see calls that were recorded, and no others."""
    kept = []
    for module in modules:
        for name in ("_forward_hooks", "_forward_pre_hooks"):
            if hooks := getattr(module, name):
                kept.append((module, name, hooks))
                setattr(module, name, type(hooks)())
    try:
        yield
    finally:
        for module, name, hooks in kept:
            setattr(module, name, hooks)
