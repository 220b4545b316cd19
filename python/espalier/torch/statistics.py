"""Counts and times of a batch."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Statistics:
    """What a batch has run so far. Times are in seconds."""

    strategy: str
    runs: int = 0
    instances: int = 0
    nodes: int = 0  #: recorded calls, constants and lookups
    steps: int = 0  #: calls that were made for them
    bound: int = 0  #: no schedule has fewer steps
    forced: int = 0  #: steps beyond the bound
    copied_rows: int = 0  #: of operands, by concatenation and by index
    planning_seconds: float = field(default=0, compare=False)
    running_seconds: float = field(default=0, compare=False)  #: forward

    def add_run(self, plan, recording, planning: float, running: float) -> None:
        self.runs += 1
        self.instances = recording.instances
        self.nodes += len(recording) - recording.done
        self.steps += len(plan)
        self.bound += plan.bound
        self.forced += plan.forced
        self.copied_rows += plan.copied_rows
        self.planning_seconds += planning
        self.running_seconds += running
