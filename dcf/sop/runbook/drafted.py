"""A runbook as a procedure that one can run, with what is still open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dcf.problem import Problem
from dcf.sop.procedure import Sop
from dcf.sop.runbook.question import Question
from dcf.sop.runbook.sentence import PLACES, Place, Sentence


@dataclass(frozen=True, slots=True)
class Draft:
    """``sop`` is a procedure without errors; ``sentences`` are all of the source, in reading order,
    each in one place. ``exact``: the text is a procedure in our own form, read as ``parse`` does;
    then nothing is open. ``answered`` are the ids of questions that were answered."""

    sop: Sop
    sentences: tuple[Sentence, ...]
    questions: tuple[Question, ...] = ()
    exact: bool = False
    answered: tuple[str, ...] = ()

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
