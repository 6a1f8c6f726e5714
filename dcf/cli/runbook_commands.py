"""The commands of a runbook with ``dcf plan --commands``: which a skill may run, and which a person
does; nothing is run here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import BAD_INPUT
from dcf.cli.generated_skills import open_skills
from dcf.cli.trouble import BadInput
from dcf.destructive import is_destructive
from dcf.problem import Problem

if TYPE_CHECKING:
    from dcf.planner import CommandSteps
    from dcf.sop import Sop

_SHOWN = 80


def offered_commands(sop: Sop, generated: Path) -> tuple[CommandSteps, bool]:
    """The commands of ``sop`` as tasks, and whether the skills in ``generated`` may run them."""
    from dcf.planner import command_steps

    steps = command_steps(sop)
    if not steps.lists or not (generated / "catalogs").is_dir():
        return steps, False
    return steps, steps.covered_by(open_skills(generated))


def command_fields(steps: CommandSteps, is_bound: bool) -> dict[str, Any]:
    """What ``--json`` says of them; ``is_bound``: the plan has a task for each."""
    return {
        "skill": steps.skill,
        "bound": is_bound,
        "programs": list(steps.programs),
        "offered": [_words(one) for one in steps.lists],
        "left": [
            {"line": one.command.line, "command": one.command.text, "why": one.why}
            for one in steps.left
        ],
    }


def command_lines(steps: CommandSteps, is_bound: bool) -> Iterator[str]:
    """What people are told of them."""
    may = f"run by {steps.skill}, each asked for" if is_bound else f"could be run by {steps.skill}"
    for runs in steps.lists:
        words = " ".join(_words(runs))
        yield f"{may}{', DESTRUCTIVE' if is_destructive(words) else ''}: {_cut(words)}"
    for one in steps.left:
        yield f"line {one.command.line}, a person does it: {_cut(one.command.text)!r} ({one.why})"


def no_skill(steps: CommandSteps, file: Path) -> Problem:
    """That no skill may run the commands, so that they stay with people."""
    programs = ", ".join(steps.programs)
    return Problem(
        "PLAN_COMMANDS",
        f"no skill {steps.skill} may run {programs}, so people do these steps",
        hint="draft it with --drafts skills_src, read it, then `dcf skills generate`; in one that "
        "is there, name the programs in permissions.commands",
        severity="warning",
        file=str(file),
    )


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


def _words(runs: Any) -> list[str]:
    return [
        "".join(part if isinstance(part, str) else f"<{part.name}>" for part in argument)
        for argument in runs.arguments
    ]


def _cut(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= _SHOWN else f"{one_line[: _SHOWN - 1]}…"
