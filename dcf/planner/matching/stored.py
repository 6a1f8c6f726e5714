"""What is stored: procedures and runbooks that people wrote, and workflows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from dcf.planner.compiling.gap import slug
from dcf.problem import Problem
from dcf.regular_file import read_regular
from dcf.sop import MAX_CHARACTERS, NoDraft, Sop, answers_file, answers_in, draft, has_answers

StoredKind = Literal["procedure", "workflow"]
PLACES = ("sops", "", "generated")
"""Folders below that of the workflows, in the order in which they win."""
_SUFFIXES = (".md", ".markdown", ".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class Stored:
    """``id`` is the path below the folder of the workflows; ``text`` what the file says. ``steps``
    are titles, or names of states; ``drafted``: a model wrote it. ``answers`` are kept beside it,
    by the ids of a runbook's questions."""

    id: str
    kind: StoredKind
    name: str
    title: str
    objective: str
    steps: tuple[str, ...]
    values: tuple[str, ...]
    text: str
    drafted: bool = False
    answers: Mapping[str, str] = field(default_factory=dict)


def stored_in(workflows: Path) -> tuple[list[Stored], list[Problem]]:
    """What lies in ``workflows`` and the folders ``sops`` and ``generated`` in it, and what cannot
    be read there. Of those with one name the first of ``PLACES`` wins: a workflow that was made of
    a stored procedure is that procedure."""
    found: dict[str, Stored] = {}
    problems: list[Problem] = []
    for place in PLACES:
        folder = workflows / place if place else workflows
        for file in _files(folder, only_json=place != "sops"):
            one, wrong = _read(file, workflows)
            problems += wrong
            if one is not None:
                found.setdefault(one.name, one)
    return list(found.values()), problems


def _files(folder: Path, *, only_json: bool) -> Iterator[Path]:
    if not folder.is_dir():
        return
    suffixes = (".json",) if only_json else _SUFFIXES
    for file in sorted(folder.iterdir()):
        if file.suffix.lower() in suffixes and file.is_file() and not has_answers(file):
            yield file


def _read(file: Path, root: Path) -> tuple[Stored | None, list[Problem]]:
    id_ = file.relative_to(root).as_posix()
    try:
        text = read_regular(file, 4 * MAX_CHARACTERS).decode()
    except (OSError, UnicodeDecodeError) as error:
        return None, [Problem("PLAN_STORED", f"cannot be read: {error}", file=str(file))]
    if file.suffix.lower() == ".json":
        value = _json(text)
        if isinstance(value, dict) and ("asl" in value or "States" in value):
            return _workflow(id_, value, text), []
    answers, problems = _kept(answers_file(file))
    try:
        found = draft(text, str(file), answers)
    except NoDraft as refused:
        return None, [*problems, *refused.problems]
    return _procedure(id_, found.sop, text, answers), problems


def _kept(file: Path) -> tuple[dict[str, str], list[Problem]]:
    """The answers that are kept in ``file``, if it is there."""
    if not file.is_file():
        return {}, []
    try:
        answers = answers_in(read_regular(file, MAX_CHARACTERS).decode())
    except (OSError, UnicodeDecodeError) as error:
        return {}, [Problem("PLAN_STORED", f"cannot be read: {error}", file=str(file))]
    if answers is None:
        message = "these are no answers by the ids of questions"
        return {}, [Problem("PLAN_STORED", message, file=str(file))]
    return answers, []


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _procedure(id_: str, sop: Sop, text: str, answers: Mapping[str, str]) -> Stored:
    values = (*sop.inputs, *sop.outputs)
    return Stored(
        id_,
        "procedure",
        name_of(sop),
        sop.title,
        sop.objective,
        tuple(step.title for step in sop.all_steps() if step.title),
        tuple(f"{one.name} {one.description}".strip() for one in values),
        text,
        answers=answers,
    )


def _workflow(id_: str, document: Mapping[str, Any], text: str) -> Stored:
    asl = document.get("asl") or document
    name = str(document.get("workflow_name") or Path(id_).stem)
    schema = document.get("workflow_input_schema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    states = asl.get("States")
    plan = document.get("plan")
    return Stored(
        id_,
        "workflow",
        name,
        name.replace("-", " ").replace("_", " "),
        str(document.get("description") or asl.get("Comment") or ""),
        tuple(states) if isinstance(states, dict) else (),
        tuple(properties) if isinstance(properties, dict) else (),
        text,
        drafted=isinstance(plan, dict) and plan.get("drafted") is True,
    )


def name_of(sop: Sop) -> str:
    """The name of the workflow that is made of ``sop``."""
    return slug(sop.title, "procedure", 64).replace("_", "-")
