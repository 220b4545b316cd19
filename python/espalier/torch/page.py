"""The page of what ran together: one HTML file that loads nothing, with a bar for each step."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from espalier.torch.explain import Explanation, StepFacts

_LONGEST_RUN = 2000  # steps

_STYLE = """
.esp { font: 14px/1.4 system-ui, sans-serif; color-scheme: light dark; max-width: 72em; }
.esp table { border-collapse: collapse; width: 100%; }
.esp td, .esp th { padding: 1px 8px; text-align: left; white-space: nowrap; }
.esp td.number, .esp th.number { text-align: right; font-variant-numeric: tabular-nums; }
.esp td.bar { width: 45%; }
.esp td.bar div { height: 12px; min-width: 2px; border-radius: 2px; }
.esp caption { text-align: left; font-weight: 600; padding: 12px 8px 4px; }
.esp .site { opacity: 0.7; }
"""


def page_text(explanation: Explanation, title: str) -> str:
    """The page. Anything in a name is shown, never run."""
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title></head>\n'
            f"<body><h1 style=\"font: 600 20px system-ui\">{escape(title)}</h1>\n{part_of_page(explanation)}"
            "</body></html>\n")


def part_of_page(explanation: Explanation) -> str:
    """The page without its frame, for notebooks."""
    colours = _colours(explanation.runs)
    parts = [f"<style>{_STYLE}</style>", '<div class="esp">', f"<p>{escape(explanation.summary())}</p>"]
    parts += [f"<p>{escape(hint)}</p>" for hint in explanation.hints()]
    for number, steps in enumerate(explanation.runs):
        parts.append(_run(number, steps, colours))
    return "\n".join([*parts, "</div>\n"])


def _run(number: int, steps: list[StepFacts], colours: dict[str, str]) -> str:
    most = max((step.nodes for step in steps), default=1)
    rows = [_step(i, step, most, colours[step.name]) for i, step in enumerate(steps[:_LONGEST_RUN])]
    if len(steps) > _LONGEST_RUN:
        rows.append(f'<tr><td></td><td colspan="5">and {len(steps) - _LONGEST_RUN:,} more steps</td></tr>')
    head = ('<tr><th class="number">step</th><th>cell</th><th class="number">nodes</th><th class="number">instances'
            "</th><th>rows that ran together</th><th>first recorded at</th></tr>")
    return f"<table><caption>Run {number}</caption>\n{head}\n" + "\n".join(rows) + "\n</table>"


def _step(number: int, step: StepFacts, most: int, colour: str) -> str:
    width = f"width: {100 * step.nodes / most:.1f}%; background: {colour}"
    return (f'<tr title="{escape(step.text)}"><td class="number">{number}</td><td>{escape(step.name)}</td>'
            f'<td class="number">{step.nodes:,}</td><td class="number">{step.instances or ""}</td>'
            f'<td class="bar"><div style="{width}"></div></td><td class="site">{escape(step.site)}</td></tr>')


def _colours(runs: list[list[StepFacts]]) -> dict[str, str]:
    """A colour for each cell, as far apart as hues of a golden ratio are."""
    names = dict.fromkeys(step.name for steps in runs for step in steps)
    return {name: f"hsl({round(i * 222.5) % 360} 60% 55%)" for i, name in enumerate(names)}
