"""``dcf documents add`` and ``remove``."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.documents.showing import document_entry
from dcf.cli.exits import BAD_INPUT
from dcf.cli.memory.opening import person
from dcf.cli.retrieval.opening import open_audit, open_documents
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, listed, summary
from dcf.cli.wording import counted
from dcf.code import CodeProblem, searched
from dcf.memory import Document, DocumentFiles, DocumentReport, Refusals, UnknownDocument
from dcf.personal_form import PersonalSetting
from dcf.problem import Problem, printable
from dcf.retrieval import Caller

_TOLD = ("added", "changed", "removed", "unchanged", "refused", "passed_over")

_NAMED = 20
_SHARED = ": whoever may ask about that project is told what stands there"
_LEAVE_OUT = "; what .gitignore names is left out"


async def add_documents(
    settings: Settings,
    project: str,
    paths: Sequence[Path],
    screen: Screen,
    *,
    again: bool = False,
) -> Answer:
    """Bring files and folders up to date, ``again`` also what was refused before. What can be read
    is kept whatever else is refused; all problems are told. Raises BadInput, CodeProblem, a
    MemoryProblem."""
    missing = [path for path in paths if not await asyncio.to_thread(path.exists)]
    if missing:
        hint = "`dcf documents remove` takes out what was read of a file that is gone"
        raise BadInput(
            Problem("cli_documents_path", f"there is nothing at {path}", hint=hint)
            for path in missing
        )
    personal, problems = PersonalSetting.from_env(settings.env)
    if problems:
        raise BadInput(problems)
    reports: list[DocumentReport] = []
    refused = settings.home / "refused-documents.json"
    async with open_documents(settings, make=True, searched=True) as documents:
        files = DocumentFiles(documents)
        with (
            Refusals(refused, again=again) as refusals,
            screen.working("reading documents") as progress,
        ):
            for path in paths:
                by = person(f"read from {path}")
                found = files.sync(
                    path, project=project, by=by, personal=personal, refusals=refusals
                )
                async for report in found:
                    reports.append(report)
                    progress.tell(f"{len(reports):,} files: {printable(report.path)}")
            progress.tell("comparing meanings")
            await documents.catch_up()
    return _answer(project, reports, await asyncio.to_thread(_outside, project, paths))


async def remove_documents(settings: Settings, project: str, names: Sequence[str]) -> Answer:
    """Give documents up, all of them or none, and say which files are still found as code. Raises
    BadInput with all that are not there."""
    by = person("`dcf documents remove`")
    async with open_documents(settings) as documents:
        found: dict[str, Document] = {}
        problems: list[Problem] = []
        for name in names:
            try:
                document = await documents.get(name, project=project)
                found[document.id] = document
            except UnknownDocument as error:
                problems.append(error.problem)
        if problems:
            raise BadInput(problems)
        async with open_audit(settings) as audit:
            for one in found.values():
                await documents.remove(one.id, by=by)
                await audit.keep("delete", Caller(by.name), one.project, [one.citation], 1)
    removed = [document_entry(one) for one in found.values()]
    show = [f"Removed {printable(one['path'])}" for one in removed]
    still = await _still_code(project, [one.path for one in found.values()])
    if still:
        show.append(f"still found as code: {', '.join(map(printable, still))}{_LEAVE_OUT}")
    return Answer({"removed": removed, "still_code": still}, show, "removed")


async def _still_code(project: str, paths: Sequence[str]) -> list[str]:
    """Those that questions about the project find as files of its folder."""
    try:
        return [*await searched(Path(project), paths)]
    except CodeProblem:
        # No code of it is found then.
        return []


def _outside(project: str, paths: Sequence[Path]) -> list[str]:
    """Those of ``paths`` that are not in the project: who names them on the command line agrees to
    that. Links out of it are refused."""

    def is_inside(path: Path) -> bool:
        named = Path(os.path.normpath(path.absolute()))
        return named.is_relative_to(project) or path.resolve().is_relative_to(project)

    return [str(path.resolve()) for path in paths if not is_inside(path)]


def _answer(project: str, reports: Sequence[DocumentReport], outside: Sequence[str]) -> Answer:
    problems = [problem for report in reports for problem in report.problems]
    counts = Counter[str](report.outcome for report in reports)
    fields: dict[str, Any] = {
        "root": project,
        "total": {outcome: counts[outcome] for outcome in _TOLD},
        "files": [_entry(report) for report in reports],
        "problems": [problem.to_dict() for problem in problems],
        "outside": [*outside],
    }
    told = [f"{counts[one]:,} {one.replace('_', ' ')}" for one in _TOLD if counts[one]]
    show = [*listed(problems), *(_line(one) for one in reports if one.document is not None)]
    show += _unread(reports)
    show += [f"{printable(path)} is outside of {project}{_SHARED}" for path in outside]
    end = f"{counted(len(reports), 'file', 'files')}: {', '.join(told)}" if told else "No files."
    answer = Answer(fields, [*show, end], "synced")
    if not any(problem.is_error for problem in problems):
        return answer
    note = ErrorNote("document_problems", summary(problems), "all that can be read was kept")
    return replace(answer, status="error", error=note, exit_code=BAD_INPUT)


def _unread(reports: Sequence[DocumentReport]) -> list[str]:
    """Which files of folders have no known format."""
    names = [one.path for one in reports if one.outcome == "passed_over" and not one.problems]
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return [f"no known format: {', '.join(names[:_NAMED])}{more}"] if names else []


def _entry(report: DocumentReport) -> dict[str, Any]:
    document = None if report.document is None else document_entry(report.document)
    return {"path": report.path, "outcome": report.outcome, "document": document}


def _line(report: DocumentReport) -> str:
    assert report.document is not None
    of = counted(report.document.pieces, "piece", "pieces")
    return f"{report.outcome} {printable(report.path)}: {report.document.format}, {of}"
