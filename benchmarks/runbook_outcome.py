"""What a runbook became, and what a careful person would get from it, as data with source lines.

``Outcome`` is the contract with ``dcf plan --from-sop FILE --json``. Lines count from 1; a
``last_line`` that is left out is the line itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from pydantic import TypeAdapter

Place: TypeAlias = Literal[
    "step", "condition", "guardrail", "input", "note", "objective", "question"
]
End: TypeAlias = Literal["ok", "failed", "escalated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """A range of lines of the source."""

    line: int
    last_line: int | None = None

    @property
    def last(self) -> int:
        """The last line of the range."""
        return self.line if self.last_line is None else self.last_line

    def overlaps(self, other: Lines) -> bool:
        """Whether a line is in both."""
        return self.line <= other.last and other.line <= self.last


@dataclass(frozen=True, slots=True, kw_only=True)
class SentencePlaced(Lines):
    """Where a sentence of the source ended; ``step`` is the number of the step that has it."""

    place: Place
    step: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepMade(Lines):
    """A step; ``number`` is ``2.1`` for the first one inside step 2. One that ``asks`` only says
    when others are done."""

    number: str
    kind: str = "task"
    how: Literal["executable", "manual", "unknown"] = "unknown"
    asks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WayMade(Lines):
    """A branch or a jump to a step's number, ``end`` or ``escalate``."""

    to: str
    step: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndMade(Lines):
    """One way in which the procedure ends."""

    outcome: End


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalMade(Lines):
    """Somebody's consent; ``who`` is shown, not compared: one role has many names."""

    who: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InputMade(Lines):
    """A placeholder, a parameter, or something that one must know."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the product made of a runbook. ``steps`` stand in the order in which they are done.

    ``executable`` is the product's own share; the one in the table is counted from ``steps``.
    """

    validates: bool
    executable: float = 0.0
    sentences: list[SentencePlaced] = field(default_factory=list)
    steps: list[StepMade] = field(default_factory=list)
    branches: list[WayMade] = field(default_factory=list)
    jumps: list[WayMade] = field(default_factory=list)
    loops: list[Lines] = field(default_factory=list)
    ends: list[EndMade] = field(default_factory=list)
    approvals: list[ApprovalMade] = field(default_factory=list)
    inputs: list[InputMade] = field(default_factory=list)
    commands_run_unasked: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Label(Lines):
    """Something labelled; an ``optional`` one is neither asked for nor wrong."""

    optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLabel(Label):
    """A step, with the words of the source by which a person finds it."""

    id: str
    kind: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WayLabel(Label):
    """A branch or a jump to a step's id, ``end``, ``escalate``, or ``*`` where any will do."""

    to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EndLabel(Label):
    """A way to end that the text names."""

    outcome: End


@dataclass(frozen=True, slots=True, kw_only=True)
class InputLabel(Label):
    """An input by its name in the source, at its first line."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What a person wrote about a runbook; `benchmarks.runbooks` says by which rules."""

    steps: list[StepLabel]
    order: list[tuple[str, str]] = field(default_factory=list)
    branches: list[WayLabel] = field(default_factory=list)
    jumps: list[WayLabel] = field(default_factory=list)
    loops: list[Label] = field(default_factory=list)
    ends: list[EndLabel] = field(default_factory=list)
    approvals: list[Label] = field(default_factory=list)
    inputs: list[InputLabel] = field(default_factory=list)
    restated: list[tuple[int, int]] = field(default_factory=list)
    commands: list[Lines] = field(default_factory=list)


_OUTCOME = TypeAdapter(Outcome)
_LABELS = TypeAdapter(Labels)


def outcome_from(plain: Any) -> Outcome:
    """An outcome from JSON; pydantic's ``ValidationError``, a ``ValueError``, where it is none.
    What only asks is left out of its steps: labels have a branch for it."""
    outcome = _OUTCOME.validate_python(plain)
    return replace(outcome, steps=[one for one in outcome.steps if not one.asks])


def labels_from(plain: Any) -> Labels:
    """Labels from JSON; what no score needs, such as guardrails and prose, is left out."""
    return _LABELS.validate_python(plain)
