"""Running a plan: step after step, each as one call of its cell, with operands gathered by plain autograd."""

from __future__ import annotations

import torch
from espalier import UsageError
from espalier._core import _torch

from espalier.torch.joined import Joined
from espalier.torch.lists import Lists
from espalier.torch.modes import current_mode
from espalier.torch.signatures import Signature


class Blocks:
    """The results of steps: tensors of rows, by the number of the block."""

    def __init__(self):
        self.results: list[list[torch.Tensor]] = []
        self._segments: list[list[int]] = []
        self._parts: dict[tuple[int, int], tuple[torch.Tensor, ...]] = {}
        self._rows: dict[tuple[int, int], tuple[torch.Tensor, ...]] = {}
        self._reads: dict[tuple[int, int], int] = {}

    def add(self, results: list[torch.Tensor], segments: list[int]) -> None:
        self.results.append(results)
        self._segments.append(segments)

    def piece(self, block: int, result: int, segment: int) -> torch.Tensor:
        """A segment of a block, or all of it (-1)."""
        if segment < 0:
            return self.results[block][result]
        parts = self._parts.get((block, result))
        if parts is None:
            parts = self._parts[block, result] = self.results[block][result].split(self._segments[block])
        return parts[segment]

    def forget_parts(self) -> None:
        """Segments are read by the run that made them only."""
        self._parts.clear()

    def row(self, block: int, result: int, row: int) -> torch.Tensor:
        """One row. The gradient of a row alone is as large as its block, so many are taken at once."""
        place = (block, result)
        if place in self._rows:
            return self._rows[place][row]
        tensor = self.results[block][result]
        reads = self._reads[place] = self._reads.get(place, 0) + 1
        if reads > 4 or len(tensor) <= 8:
            self._rows[place] = tensor.unbind(0)
            return self._rows[place][row]
        return tensor[row]


class Execution:
    """One run of a batch."""

    def __init__(self, recording: _torch.Recording, plan: _torch.Plan, steps: list[tuple], blocks: Blocks,
                 joined: Joined):
        self._recording = recording
        self._plan = plan
        self._steps = steps
        self._blocks = blocks
        self._joined = joined
        self._mode = current_mode()

    def run(self) -> None:
        """All steps. If one fails, nothing of the run remains."""
        before = len(self._blocks.results)
        try:
            for number, step in enumerate(self._steps):
                signature = self._recording.signature_of(step[0])
                if signature.mode == self._mode:
                    self._run_step(number, signature, step)
                else:
                    with signature.mode.entered():
                        self._run_step(number, signature, step)
        except BaseException:
            del self._blocks.results[before:], self._blocks._segments[before:]
            raise
        finally:
            self._blocks.forget_parts()

    def _run_step(self, number: int, signature: Signature, step: tuple) -> None:
        _, nodes, gathers, segments, fields, lists, length = step
        if fields >= 0:
            operands = [self._joined.fields(signature, fields)]
        else:
            operands = self._operands(gathers, nodes, len(signature.inputs))
        if signature.any_number:
            operands = [Lists(operands[0], nodes, length, self._joined.numbers[lists] if lists >= 0 else None)]
            results = signature.call(operands)
        else:
            try:
                results = signature.run(operands, nodes)
            except Exception as error:
                _name_call(error, self._recording, self._plan, number, signature, operands, nodes)
                raise
        self._blocks.add(results, segments)

    def _operands(self, gathers: list, nodes: int, count: int) -> list[torch.Tensor]:
        operands: list = [None] * count
        numbers, piece = self._joined.numbers, self._blocks.piece
        for which, pieces, index in gathers:
            if len(pieces) == 1:
                rows = piece(*pieces[0][:3])
            else:
                rows = torch.cat([piece(block, result, segment) if some < 0 else
                                  piece(block, result, segment).index_select(0, numbers[some])
                                  for block, result, segment, some in pieces])
            if index >= 0:
                rows = rows.index_select(0, numbers[index])
            if len(which) == 1:
                operands[which[0]] = rows
            else:
                for operand, part in zip(which, rows.split(nodes)):
                    operands[operand] = part
        return operands


def _name_call(error: Exception, recording, plan, step: int, signature: Signature, operands: list, nodes: int) -> None:
    """Adds to an error of a cell which call it was: the first whose row alone fails, too."""
    row = 0
    if nodes > 1:
        row = next((row for row in range(nodes) if _fails(signature, [rows[row : row + 1] for rows in operands])), 0)
    node = plan.node_at(step, row)
    file, line = recording.site_of(node)
    instance = recording.instance_of(node)
    where = f", in instance {instance} of {recording.instances}" if instance >= 0 else ""
    others = f", one of {nodes} calls that ran together" if nodes > 1 else ""
    error.add_note(f"in cell {signature.name!r}, recorded at {file}:{line}{where}{others}: {signature.text}")


def _fails(signature: Signature, operands: list) -> bool:
    try:
        with torch.no_grad():
            signature.run(operands, 1)
    except Exception:
        return True
    return False


def no_such_run() -> UsageError:
    return UsageError("the Value belongs to a batch that ended with an error before it ran")
