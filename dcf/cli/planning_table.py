"""A plan as a table: each step, its state, its skill and why, the runners-up, tier and risk.

Only the gist of why stands in it; ``--json`` and the document have all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import JustifyMethod

    from dcf.planner import Plan, PlannedStep

_HEADINGS = ("step", "state", "skill", "why", "runners-up", "tier", "risk")


def plan_table(plan: Plan) -> Table:
    """One row for each step, those inside others too."""
    table = Table(box=None, pad_edge=False)
    # The name of a skill is copied from here: other columns give way.
    longest = max((len(name) for step in plan.steps for name in step.skills), default=0)
    for heading in _HEADINGS:
        justify: JustifyMethod = "right" if heading == "tier" else "left"
        fixed = heading != "state"
        table.add_column(
            heading,
            overflow="ellipsis" if heading in ("why", "runners-up") else "fold",
            justify=justify,
            no_wrap=fixed,
            min_width=longest if heading == "skill" else None,
        )
    missing = {gap.step.number for gap in plan.gaps}
    for step in plan.steps:
        table.add_row(*_cells(step, step.number in missing))
    return table


def _cells(step: PlannedStep, is_missing: bool) -> list[Text]:
    others = "\n".join(f"{one.skill.name} {one.score:.2f}" for one in step.runners_up[:2])
    skill = Text("no skill", "bold red") if is_missing else Text("\n".join(step.skills), "bold")
    risk = step.risk or ""
    return [
        Text(step.number),
        Text(step.states[0] if step.states else ""),
        skill,
        Text(_why(step), "dim"),
        Text(others, "dim"),
        Text("" if step.tier is None else str(step.tier)),
        Text(f"{risk}, approval".lstrip(", ") if step.approval else risk),
    ]


def _why(step: PlannedStep) -> str:
    if not step.skills:
        return f"({step.kind})"
    return f"{step.brief}, explored" if step.explored else step.brief
