"""A runbook as a procedure that one can run: where each sentence went, and what is still open."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dcf.problem import Problem
from dcf.sop.procedure import Sop

Place = Literal["step", "condition", "guardrail", "input", "note", "objective", "question"]
PLACES: tuple[Place, ...] = (
    "step",
    "condition",
    "guardrail",
    "input",
    "note",
    "objective",
    "question",
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the source (a heading, a row of a table and a block of code are one too), on
    the lines ``line`` to ``last_line``, which count from 1. ``text`` is as written, on one line but
    for code. ``place``: what it became; ``question`` is what was not understood. ``step`` is the
    number of the step of the draft that it belongs to, None for the whole procedure."""

    line: int
    last_line: int
    text: str
    place: Place
    step: str | None = None


_DIGITS = 10


@dataclass(frozen=True, slots=True)
class Question:
    """``text`` is the sentence on ``line`` that it is about, ``asks`` what was not understood,
    ``assumed`` the one of ``answers`` that the draft goes by until somebody answers. Without
    ``answers`` any text is one. ``id`` stays the same when lines move."""

    id: str
    line: int
    text: str
    asks: str
    assumed: str
    answers: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "line": self.line,
            "text": self.text,
            "asks": self.asks,
            "assumed": self.assumed,
            "answers": list(self.answers),
        }


def question_id(path: tuple[str, ...], text: str, asks: str, again: int = 0) -> str:
    """A digest of the headings above a sentence, of the sentence and of what is asked; ``again``
    counts equal ones."""
    told = "\n".join((*path, " ".join(text.split()), asks, str(again)))
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:_DIGITS]


@dataclass(frozen=True, slots=True)
class Draft:
    """``sop`` is a procedure without errors; ``sentences`` are all of the source, in reading order,
    each in one place. ``exact``: the text is a procedure in our own form, read as ``parse`` does;
    then nothing is open but which of the values is kept that several branches write. ``answered``
    are the ids of questions that were answered, ``problems`` what is to be said of its source."""

    sop: Sop
    sentences: tuple[Sentence, ...]
    questions: tuple[Question, ...] = ()
    exact: bool = False
    answered: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    def counts(self) -> Mapping[Place, int]:
        """How many sentences went to each place."""
        found: dict[Place, int] = dict.fromkeys(PLACES, 0)
        for one in self.sentences:
            found[one.place] += 1
        return found


class NoDraft(Exception):
    """There is no procedure to be made of a text: it is empty, no text, or too large."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        self.problems = problems
        super().__init__("; ".join(problem.message for problem in problems))
