"""What ran together in a batch, and what kept the rest apart."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from espalier.torch.statistics import Statistics

_LONGEST_LIST = 200  # of steps, in the text


@dataclass(frozen=True)
class StepFacts:
    """A step that ran."""

    name: str
    text: str  #: the name, the operands and the results
    nodes: int
    instances: int
    site: str  #: of the call that was recorded first


@dataclass
class _Group:
    """All signatures of one name and one list of operands."""

    nodes: int = 0
    signatures: set[int] = field(default_factory=set)


class Explanation:
    """Collects facts while a batch runs, and puts them into words when asked. It keeps nothing of the user's."""

    def __init__(self, statistics: Statistics):
        self._statistics = statistics
        self._kept: list[tuple] = []  # of each run: plan, recording, and the number and text of each step's signature

    def add_run(self, plan, steps: list[tuple], recording) -> None:
        signatures = [recording.signature_of(step[0]) for step in steps]
        self._kept.append((plan, recording, [(step[0], step[1], signature.name, signature.text)
                                             for step, signature in zip(steps, signatures)]))

    @property
    def runs(self) -> list[list[StepFacts]]:
        """The steps of each run."""
        return [[StepFacts(name, text, nodes, *_told(plan, recording, number))
                 for number, (_, nodes, name, text) in enumerate(steps)] for plan, recording, steps in self._kept]

    def _groups(self) -> dict[str, _Group]:
        """By text."""
        groups: dict[str, _Group] = {}
        for _, _, steps in self._kept:
            for signature, nodes, _, text in steps:
                group = groups.setdefault(text, _Group())
                group.nodes += nodes
                group.signatures.add(signature)
        return groups

    def summary(self) -> str:
        counted = self._statistics
        of = f" of {_counted(counted.instances, 'instance')}" if counted.instances else ""
        return (f"{_counted(counted.nodes, 'node')}{of} in {_counted(counted.steps, 'step')} of "
                f"{_counted(counted.runs, 'run')}, by {counted.strategy!r}; no schedule has fewer than {counted.bound}")

    def text(self) -> str:
        lines = [self.summary()]
        for number, steps in enumerate(self.runs):
            lines.append(f"run {number}:")
            for i, step in enumerate(steps[:_LONGEST_LIST]):
                of = f" of {_counted(step.instances, 'instance')}" if step.instances > 1 else ""
                lines.append(f"  step {i}: {_counted(step.nodes, 'node')}{of}: {step.text}  {step.site}")
            if len(steps) > _LONGEST_LIST:
                lines.append(f"  and {len(steps) - _LONGEST_LIST} more steps")
        return "\n".join(lines + self.hints()) + "\n"

    def hints(self) -> list[str]:
        """What kept calls of one cell apart although their operands are alike."""
        return [f"hint: {_counted(group.nodes, 'call')} of {text} have {len(group.signatures)} signatures, because "
                "their Python arguments or modes differ; numbers that are data belong into et.constant()"
                for text, group in self._groups().items() if len(group.signatures) > 1]


def _told(plan, recording, step: int) -> tuple[int, str]:
    """How many instances, and the place of the first call."""
    instances, first = plan.facts(recording, step)
    file, line = recording.site_of(first)
    return instances, f"{os.path.basename(file)}:{line}" if file else ""


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
