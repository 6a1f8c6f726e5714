"""The skill that may run the commands of a runbook, drafted; nothing is run here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import BAD_INPUT
from dcf.cli.trouble import BadInput

if TYPE_CHECKING:
    from dcf.planner import CommandSteps


def write_command_skill(
    steps: CommandSteps,
    sources: Path,
    generated: Path,
    fields: Mapping[str, Any],
    shown: Sequence[Any],
    following: Sequence[str],
    unwritten: Sequence[Path],
) -> Answer:
    """Write the draft of the skill, and say what comes next: ``following`` are commands.
    ``unwritten`` is what was asked for and needs the skill first: with any, exit code 2. Raises
    BadInput."""
    from dcf.planner import write_command_draft

    made = write_command_draft(sources, generated, steps)
    if made.problems:
        raise BadInput(made.problems)
    written = [str(sources / name) for name in (*made.written, *made.extended)]
    lines = [
        *shown,
        *(f"wrote {name}" for name in written),
        f"Read the draft: it may run {', '.join(steps.programs)}. Next:",
        *(f"  {at}. {command}" for at, command in enumerate(following, 1)),
        "The stub answers, and nothing runs, until `transport: commands` and `allowStdio: true` "
        "stand at the server `commands` in registry.yaml.",
    ]
    told = {**fields, "drafts": written, "next": list(following)}
    if not unwritten:
        return Answer(told, lines)
    names = " and ".join(str(one) for one in unwritten)
    note = ErrorNote("drafted", f"{names}: not written yet, the draft is to be generated")
    return Answer(told, lines, status="error", error=note, exit_code=BAD_INPUT)
