"""A runbook of strangers for ``dcf plan --from-sop`` and ``dcf sop show``: its draft, what it asks,
and the answers that are kept beside it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from dcf.cli.asking import answer_to, at_terminal
from dcf.cli.input_source import read_bytes, read_file
from dcf.cli.json_or_yaml import read_json_or_yaml
from dcf.cli.screen import Screen
from dcf.cli.trouble import BadInput, EnvironmentTrouble
from dcf.cli.wording import counted
from dcf.problem import Problem

if TYPE_CHECKING:
    from dcf.sop import Draft, Question, Reading, Source

_QUOTED = 100
"""Characters of a sentence that a question shows."""


@dataclass(frozen=True, slots=True)
class Answering:
    """What is said to questions: ``given`` by id, a ``file`` of such, and whether the person at the
    terminal is asked. With ``among_others`` what answers no question is said to something else."""

    given: Mapping[str, str]
    file: Path | None = None
    asks: bool = False
    among_others: bool = False


NOTHING_SAID = Answering({})
Drafting: TypeAlias = "Callable[[Source, Mapping[str, str]], Awaitable[Draft]]"
"""Drafts a runbook by answers. Raises NoDraft."""


async def plain_draft(source: Source, answers: Mapping[str, str]) -> Draft:
    """The draft of a runbook alone, without skills."""
    from dcf.sop import draft_of

    return draft_of(source, answers)


async def read_draft(
    source: Source,
    file: Path,
    answering: Answering,
    screen: Screen,
    drafted: Drafting = plain_draft,
) -> tuple[Draft, dict[str, str]]:
    """The draft of the runbook ``source``, which is in ``file``, by all answers that there are, and
    those of them that it goes by; new ones are kept beside it. Raises BadInput,
    EnvironmentTrouble."""
    kept = kept_answers(file)
    said = _read_answers(answering.file) if answering.file is not None else {}
    said |= answering.given

    async def of(answers: Mapping[str, str]) -> Draft:
        from dcf.sop import NoDraft

        try:
            return await drafted(source, answers)
        except NoDraft as refused:
            raise BadInput(refused.problems) from refused

    draft = await of({**kept, **said})
    if answering.among_others:
        asked = {*draft.answered, *(one.id for one in draft.questions)}
        said = {name: one for name, one in said.items() if name in asked}
    _check(said, draft)
    if answering.asks and at_terminal(screen):
        while (more := _asked(draft.questions, screen, {*kept, *said})) is not None:
            said |= more
            draft = await of({**kept, **said})
    if said:
        keep_answers(file, {**kept, **said})
        screen.say(f"{_answers_file(file)}: {counted(len(said), 'answer', 'answers')} kept")
    answers = {**kept, **said}
    return draft, {name: answers[name] for name in draft.answered if name in answers}


def runbook_text(file: Path) -> str:
    """The text of the runbook in ``file``, as it is marked up. Raises BadInput."""
    if file.suffix.lower() == ".docx":
        message = "a plan that is run keeps the text of its procedure, and DOCX is none"
        hint = "save it as HTML or Markdown; or dcf plan --from-sop with --out, then dcf submit"
        raise BadInput([Problem("SOP_FORMAT", message, hint=hint, file=str(file))])
    text, unreadable = read_file(file)
    if unreadable is not None:
        raise BadInput([unreadable])
    return text


def kept_answers(file: Path) -> dict[str, str]:
    """What was answered before about the runbook in ``file``. Raises BadInput."""
    kept = _answers_file(file)
    return _read_answers(kept) if kept.is_file() else {}


def runbook_in(file: Path) -> Source:
    """The runbook in ``file``, in any format that is read. Raises BadInput."""
    from dcf.sop import NoDraft, read_source

    data, unreadable = read_bytes(file)
    if unreadable is not None:
        raise BadInput([unreadable])
    try:
        return read_source(data, str(file))
    except NoDraft as refused:
        raise BadInput(refused.problems) from refused


def parsed(source: Source) -> Reading:
    """The procedure in our own form that ``source`` is, with all that is wrong with it."""
    from dcf.sop import Reading, parse

    if source.blocks is None:
        return parse(source.text, source.file)
    message = f"this is {source.format}, and a procedure is written in Markdown or YAML"
    hint = f"dcf plan --from-sop {source.file} makes a draft of it"
    return Reading(None, (Problem("SOP_FORMAT", message, hint=hint, file=source.file),))


def _answers_file(file: Path) -> Path:
    from dcf.sop import answers_file

    return answers_file(file)


def _read_answers(file: Path) -> dict[str, str]:
    value, _ = read_json_or_yaml(file, "CLI_ANSWERS")
    if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
        hint = "write `ID: answer` on a line for each question; `dcf plan --from-sop` shows the ids"
        message = "these are no answers by the ids of questions"
        raise BadInput([Problem("CLI_ANSWERS", message, hint=hint, file=str(file))])
    return {str(name): one for name, one in value.items()}


def _check(said: Mapping[str, str], draft: Draft) -> None:
    """Raises BadInput for an answer to what is not asked, or that is none of those offered."""
    from dcf.sop import unfit_answers

    unfit = unfit_answers(draft, said)
    if unfit:
        raise BadInput([replace(one, code="CLI_ANSWERS", file="--answer") for one in unfit])


def _asked(questions: Sequence[Question], screen: Screen, done: set[str]) -> dict[str, str] | None:
    """What the person at the terminal says to the first question that is not ``done``; None when
    there is no more."""
    question = next((one for one in questions if one.id not in done), None)
    if question is None:
        return None
    for line in question_lines(question.to_json()):
        screen.say(line)
    while True:
        text = answer_to(input, f"answer [Enter: {question.assumed}] ").strip()
        if not text or not question.answers or text in question.answers:
            return {question.id: text or question.assumed}
        screen.say(f"  one of: {' | '.join(question.answers)}")


def keep_answers(source: Path, answers: Mapping[str, str]) -> None:
    """Keep all ``answers`` beside the runbook in ``source``. Raises EnvironmentTrouble."""
    file = _answers_file(source)
    lines = [
        f"# Answers to what `dcf plan --from-sop {source.name}` asks, by the ids of questions."
    ]
    lines += [f"{json.dumps(name)}: {json.dumps(answers[name])}" for name in sorted(answers)]
    try:
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        message = f"{file} cannot be written: {error.strerror or error}"
        raise EnvironmentTrouble("not_written", message, "see to its rights") from error


def draft_fields(draft: Draft, steps: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """The draft for ``--json``; ``steps`` are those of its plan, which say with which skills."""
    from dcf.planner import drafted_outcome

    return drafted_outcome(draft, steps)


def draft_lines(draft: Draft, fields: Mapping[str, Any]) -> Iterator[str]:
    """What people are told of a draft: its questions, where its sentences went, and how much of it
    runs by itself."""
    from dcf.planner import report_lines

    for question in draft.questions:
        yield from question_lines(question.to_json())
    yield from report_lines(draft, fields)


def question_lines(question: Mapping[str, Any]) -> Iterator[str]:
    """A question as its ``to_json`` has it, with what is assumed and how to answer."""
    text = question["text"].replace("\n", " ")
    shown = text if len(text) <= _QUOTED else f"{text[: _QUOTED - 1]}…"
    yield f"line {question['line']}: {question['asks']}: {shown!r}"
    others = [one for one in question["answers"] if one != question["assumed"]]
    how = " | ".join(others) if others else "your words" if not question["answers"] else ""
    answer = f"; --answer {question['id']}=… ({how})" if how else ""
    yield f"  assumed: {question['assumed']}{answer}"
