"""``dcf skills new``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dcf.cli.answer import Answer
from dcf.cli.trouble import BadInput
from dcf.problem import Problem
from dcf.skills import SkillOrder, new_skill

RISKS = ("low", "medium", "high")


def order_skill(
    name: str,
    *,
    server: str | None,
    tools: Sequence[str],
    description: str,
    tags: Sequence[str],
    risk: str,
) -> SkillOrder:
    """The order in a command line. Raises BadInput with everything that is wrong with it."""
    problems = check_risk(risk)
    if server and not tools:
        hint = f"name its tools: --server {server} --tool NAME"
        problems.append(Problem("CLI_USAGE", "--server without --tool", hint=hint, file="--server"))
    for tool in tools:
        if ":" not in tool and not server:
            hint = f"write --server NAME --tool {tool}, or --tool SERVER:{tool}"
            message = f"the tool {tool!r} has no server"
            problems.append(Problem("CLI_USAGE", message, hint=hint, file="--tool"))
    if problems:
        raise BadInput(problems)
    refs = tuple(tool if ":" in tool else f"{server}:{tool}" for tool in tools)
    return SkillOrder(name, refs, description, tuple(tags), risk)


def check_risk(risk: str | None) -> list[Problem]:
    """Nothing, if ``risk`` is a level or None."""
    if risk is None or risk in RISKS:
        return []
    hint = f"one of {', '.join(RISKS)}"
    return [Problem("CLI_USAGE", f"{risk!r} is no risk level", hint=hint, file="--risk")]


def write_skill(src: Path, generated: Path, order: SkillOrder) -> Answer:
    """Write the skill and what it needs beside it; raises BadInput when something is in the way."""
    made = new_skill(src, generated, order)
    if made.problems:
        raise BadInput(made.problems)
    fields = {
        "manifest_id": f"skill.{order.name}@1.0.0",
        "written": [str(src / name) for name in made.written],
        "extended": [str(src / name) for name in made.extended],
    }
    show = [f"wrote {src / name}" for name in made.written]
    show += [f"added to {src / name}" for name in made.extended]
    show.append(f"next: edit {src / made.written[0]}, then `dcf skills generate`")
    return Answer(fields, show)
