"""A runbook of strangers for ``dcf plan --from-sop`` and ``dcf sop show``: its draft, what it asks,
and the answers that are kept beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcf.cli.asking import answer_to, at_terminal
from dcf.cli.input_source import read_bytes
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
    terminal is asked."""

    given: Mapping[str, str]
    file: Path | None = None
    asks: bool = False


NOTHING_SAID = Answering({})


def answers_file(file: Path) -> Path:
    """Where the answers to the questions of the runbook in ``file`` are kept."""
    return file.with_suffix(".answers.yaml")


def read_draft(file: Path, answering: Answering, screen: Screen) -> Draft:
    """The draft of the runbook in ``file`` by all answers that there are; new ones are kept beside
    it. Raises BadInput, EnvironmentTrouble."""
    source = runbook_in(file)
    kept = kept_answers(file)
    said = _read_answers(answering.file) if answering.file is not None else {}
    said |= answering.given
    draft = _drafted(source, {**kept, **said})
    _check(said, draft)
    if answering.asks and at_terminal(screen):
        while (more := _asked(draft.questions, screen, {*kept, *said})) is not None:
            said |= more
            draft = _drafted(source, {**kept, **said})
    if said:
        _keep(answers_file(file), {**kept, **said}, file)
        screen.say(f"{answers_file(file)}: {counted(len(said), 'answer', 'answers')} kept")
    return draft


def kept_answers(file: Path) -> dict[str, str]:
    """What was answered before about the runbook in ``file``. Raises BadInput."""
    return _read_answers(answers_file(file)) if answers_file(file).is_file() else {}


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


def _drafted(source: Source, answers: Mapping[str, str]) -> Draft:
    from dcf.sop import NoDraft, draft_of

    try:
        return draft_of(source, answers)
    except NoDraft as refused:
        raise BadInput(refused.problems) from refused


def _read_answers(file: Path) -> dict[str, str]:
    value, _ = read_json_or_yaml(file, "CLI_ANSWERS")
    if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
        hint = "write `ID: answer` on a line for each question; `dcf plan --from-sop` shows the ids"
        message = "these are no answers by the ids of questions"
        raise BadInput([Problem("CLI_ANSWERS", message, hint=hint, file=str(file))])
    return {str(name): one for name, one in value.items()}


def _check(said: Mapping[str, str], draft: Draft) -> None:
    """Raises BadInput for an answer to what is not asked, or that is none of those offered."""
    asked = {one.id: one for one in draft.questions}
    problems = []
    for name, answer in said.items():
        if name in asked:
            offered = " | ".join(asked[name].answers)
            message = f"{answer!r} is none of the answers to question {name}"
            problems.append(Problem("CLI_ANSWERS", message, hint=offered, file="--answer"))
        elif name not in draft.answered:
            message = f"there is no question {name!r}"
            ids = ", ".join(asked) or "nothing is asked"
            problems.append(Problem("CLI_ANSWERS", message, hint=ids, file="--answer"))
    if problems:
        raise BadInput(problems)


def _asked(questions: Sequence[Question], screen: Screen, done: set[str]) -> dict[str, str] | None:
    """What the person at the terminal says to the first question that is not ``done``; None when
    there is no more."""
    question = next((one for one in questions if one.id not in done), None)
    if question is None:
        return None
    for line in _question_lines(question):
        screen.say(line)
    while True:
        text = answer_to(input, f"answer [Enter: {question.assumed}] ").strip()
        if not text or not question.answers or text in question.answers:
            return {question.id: text or question.assumed}
        screen.say(f"  one of: {' | '.join(question.answers)}")


def _keep(file: Path, answers: Mapping[str, str], source: Path) -> None:
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
    from dcf.sop import outcome

    fields = outcome(draft)
    skilled = {step["step"] for step in steps if step.get("skills")}
    for step in fields["steps"]:
        if step["number"] in skilled:
            step["how"] = "executable"
    done = [step["how"] == "executable" for step in fields["steps"]]
    fields["executable"] = round(sum(done) / len(done), 3) if done else 0.0
    fields["exact"] = draft.exact
    fields["questions"] = [one.to_json() for one in draft.questions]
    fields["answered"] = list(draft.answered)
    return fields


def draft_lines(draft: Draft, fields: Mapping[str, Any]) -> Iterator[str]:
    """What people are told of a draft: its questions, where its sentences went, and how much of it
    runs by itself."""
    for question in draft.questions:
        yield from _question_lines(question)
    counts = {place: count for place, count in draft.counts().items() if count}
    total = sum(counts.values())
    said = ", ".join(f"{count} {place}" for place, count in counts.items())
    yield f"{counted(total, 'sentence', 'sentences')}: {said}"
    steps = fields["steps"]
    shares = {
        how: round(100 * sum(step["how"] == how for step in steps) / (len(steps) or 1))
        for how in ("executable", "manual")
    }
    unclear = round(100 * counts.get("question", 0) / (total or 1))
    yield (
        f"{counted(len(steps), 'step', 'steps')}: {shares['executable']} % executable, "
        f"{shares['manual']} % done by a person; {unclear} % of the sentences not understood"
    )


def _question_lines(question: Question) -> Iterator[str]:
    text = question.text.replace("\n", " ")
    shown = text if len(text) <= _QUOTED else f"{text[: _QUOTED - 1]}…"
    yield f"line {question.line}: {question.asks}: {shown!r}"
    others = [one for one in question.answers if one != question.assumed]
    how = " | ".join(others) if others else "your words" if not question.answers else ""
    answer = f"; --answer {question.id}=… ({how})" if how else ""
    yield f"  assumed: {question.assumed}{answer}"
