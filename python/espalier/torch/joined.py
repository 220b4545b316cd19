"""Everything that a run moves to the device: row numbers, constants and looked-up rows, joined into one transfer."""

from __future__ import annotations

import numpy
import torch
from espalier._core import _torch

from espalier.torch.kinds import Kind
from espalier.torch.signatures import Signature

_ALIGNMENT = 16  # bytes; of any type of elements


class Joined:
    """The numbers of a plan, and its constants, on the device."""

    def __init__(self, recording: _torch.Recording, plan: _torch.Plan, steps: list[tuple],
                 constants: list[torch.Tensor], device: torch.device):
        numbers = torch.from_numpy(plan.numbers())
        self._constants: dict[int, torch.Tensor] = {}  # by part
        parts = list(numbers.split(plan.parts)) if plan.parts else []
        stacks: list[tuple[int, torch.Tensor]] = []
        for number, _, _, _, fields, _, _ in steps:
            if fields >= 0 and recording.signature_of(number).field == "object":
                tensors = [constants[i] for i in parts[fields].tolist()]
                stacks.append((fields, torch.stack(tensors)))
        if device.type == "cpu":
            self.numbers = parts
            self._constants = {fields: stack.to(device) for fields, stack in stacks}
            return
        here = [(fields, stack) for fields, stack in stacks if stack.device.type == "cpu" and not stack.requires_grad]
        moved = transfer([numbers, *(stack for _, stack in here)], device)
        self.numbers = list(moved[0].split(plan.parts)) if plan.parts else []
        self._constants = {fields: stack.to(device) for fields, stack in stacks}
        self._constants.update({fields: stack for (fields, _), stack in zip(here, moved[1:])})

    def fields(self, signature: Signature, part: int) -> torch.Tensor:
        """What the nodes of a step carry: constants, or rows of a table."""
        if signature.field == "object":
            return self._constants[part]
        numbers = self.numbers[part]
        return numbers.view(torch.float64) if signature.field == "number" else numbers


def transfer(tensors: list[torch.Tensor], device: torch.device) -> list[torch.Tensor]:
    """Copies tensors of the processor's memory to a device as one."""
    begins, size = [], 0
    for tensor in tensors:
        begins.append(size)
        size += -(-tensor.nbytes // _ALIGNMENT) * _ALIGNMENT
    bytes_ = torch.empty(size, dtype=torch.uint8, pin_memory=device.type == "cuda")
    for tensor, begin in zip(tensors, begins):
        bytes_[begin : begin + tensor.nbytes] = tensor.contiguous().flatten().view(torch.uint8)
    moved = bytes_.to(device, non_blocking=True)
    return [moved[begin : begin + tensor.nbytes].view(tensor.dtype).view(tensor.shape)
            for tensor, begin in zip(tensors, begins)]


def constant_signature(kind: Kind, mode, field: str) -> Signature:
    """A node without operands, whose rows are its constants."""
    return Signature("constant", lambda rows: [rows[0].to(kind.dtype)], mode, (), [kind], field=field)


def as_constant(constant) -> torch.Tensor:
    """A tensor of what may be a constant: numbers, nested lists of them, arrays, tensors."""
    if isinstance(constant, torch.Tensor):
        return constant
    if isinstance(constant, numpy.ndarray):
        return torch.from_numpy(constant) if constant.flags.writeable else torch.from_numpy(constant.copy())
    return torch.tensor(constant)
