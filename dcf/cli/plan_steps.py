"""The steps of a plan, a few lines each: they fold at any width, where columns would be cut."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

_NEXT_BEST = 2


def plan_steps(steps: Sequence[Mapping[str, Any]], missing: Collection[str] = ()) -> Table:
    """Each of ``steps`` (as a plan says them in JSON), those inside others too: its number, title
    and first state, its skills and why, the next best, tier and risk. ``missing`` are the numbers
    of those that no skill covers."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for step in steps:
        table.add_row(Text(step["step"], "bold"), _told(step, step["step"] in missing))
    return table


def _told(step: Mapping[str, Any], is_missing: bool) -> Text:
    lines = [Text(step["title"], "bold")]
    state = "".join(step["states"][:1])
    if is_missing:
        lines.append(Text.assemble(f"{state}: ", ("no skill", "bold red")))
    elif step["skills"]:
        skills = ", ".join(step["skills"])
        lines.append(Text.assemble(f"{state}: ", (skills, "cyan"), _asks(step)))
        why = f"{step['why']}, explored" if step["explored"] else step["why"]
        lines.append(Text(why, "dim"))
    else:
        kind = "" if step["kind"] in ("approval", "task") else f" ({step['kind']})"
        lines.append(Text(f"{state}{kind}{_asks(step)}"))
    others = [
        f"{one['skill'].partition('@')[0]} {one['score']:.2f}"
        for one in step["runners_up"][:_NEXT_BEST]
    ]
    if others:
        lines.append(Text(f"next best: {', '.join(others)}", "dim"))
    return Text("\n").join(lines)


def _asks(step: Mapping[str, Any]) -> str:
    """What the step asks for: a tier of models, an approval; and what is at stake."""
    asks = [
        "" if step["tier"] is None else f"tier {step['tier']}",
        f"risk {step['risk']}" if step["risk"] else "",
        "approval" if step["approval"] else "",
    ]
    said = ", ".join(filter(None, asks))
    return f" ({said})" if said else ""
