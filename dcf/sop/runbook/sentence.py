"""Where each sentence of a runbook went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
