"""What ``dcf plan --drafts`` answers once drafts are written: what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import BAD_INPUT
from dcf.cli.trouble import listed, summary
from dcf.cli.wording import counted
from dcf.problem import Problem, has_errors

GAP = "PLAN_GAP"
_SOURCES = Path("skills_src")


def drafted_answer(
    fields: Mapping[str, Any],
    shown: Sequence[Any],
    problems: Sequence[Problem],
    commands: Sequence[str],
    unwritten: Sequence[Path],
) -> Answer:
    """``problems`` are those of the plan; gaps are no longer among them, since their drafts are
    there. ``unwritten`` is what was asked for and needs the drafts first: with any, exit code 2."""
    gaps = [one for one in problems if one.code == GAP]
    rest = [one for one in problems if one.code != GAP]
    drafts = counted(len(gaps), "step has its skill", "steps have their skills")
    lines = [
        *shown,
        f"{drafts} as a draft now, which answers with the examples in its tool. Next:",
        "  1. fill in the drafts, or leave them as they are to rehearse",
        *(f"  {at}. {command}" for at, command in enumerate(commands, 2)),
    ]
    told = {**fields, "next": list(commands)}
    if has_errors(rest):
        note = ErrorNote("bad_input", summary(rest), details=listed(rest))
        return Answer(told, lines, status="error", error=note, exit_code=BAD_INPUT)
    if unwritten:
        names = " and ".join(str(one) for one in unwritten)
        note = ErrorNote("drafted", f"{names}: not written yet, the drafts are to be generated")
        return Answer(told, lines, status="error", error=note, exit_code=BAD_INPUT)
    return Answer(told, lines)


def next_commands(
    file: Path, sources: Path, generated: Path, usual: Path, targets: Mapping[str, Path | None]
) -> list[str]:
    """What makes a workflow of the procedure in ``file`` now; ``usual`` is the folder of generated
    skills that needs no option, ``targets`` are options of the plan with their files."""
    src = [] if sources == _SOURCES else ["--src", str(sources)]
    where = [] if generated == usual else ["--generated", str(generated)]
    given = [part for name, path in targets.items() if path for part in (name, str(path))]
    plan = given or ["--out", str(file.with_suffix(".json").name)]
    return [
        shlex.join(["dcf", "skills", "generate", *src, *where]),
        shlex.join(["dcf", "plan", "--from-sop", str(file), *plan, *where]),
    ]
