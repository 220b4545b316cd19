"""PyTorch's modes: a call runs in the mode in which it was recorded, whenever that is."""

from __future__ import annotations

import contextlib

import torch
from espalier._core import _torch

_torch.modes(torch.is_grad_enabled, torch.is_any_autocast_enabled
                  if hasattr(torch, "is_any_autocast_enabled") else torch._C._is_any_autocast_enabled,
                  torch.is_inference_mode_enabled)
_AUTOCAST = 4


class Mode:
    """Whether gradients are on, inference mode, and autocast by type of device. Hashable, equal if the same."""

    __slots__ = ("number", "_key")

    def __init__(self):
        self.number = _torch.mode()
        autocast = ()
        if self.number & _AUTOCAST:
            autocast = tuple((device, torch.get_autocast_dtype(device)) for device in ("cpu", "cuda", "xpu", "mps")
                             if torch.is_autocast_enabled(device))
        self._key = (self.number, autocast)

    def __eq__(self, other):
        return isinstance(other, Mode) and self._key == other._key

    def __hash__(self):
        return hash(self._key)

    @property
    def is_autocast(self) -> bool:
        return bool(self.number & _AUTOCAST)

    def entered(self) -> contextlib.AbstractContextManager:
        """The mode, for a while."""
        stack = contextlib.ExitStack()
        gradients = self.number & ~_AUTOCAST
        stack.enter_context(torch.inference_mode(gradients == 2))
        if gradients != 2:
            stack.enter_context(torch.set_grad_enabled(gradients == 0))
        wanted = dict(self._key[1])
        for device in ("cpu", "cuda", "xpu", "mps"):
            if device in wanted or torch.is_autocast_enabled(device):
                stack.enter_context(torch.autocast(device, dtype=wanted.get(device), enabled=device in wanted))
        return stack


def current_mode() -> Mode:
    return Mode()
