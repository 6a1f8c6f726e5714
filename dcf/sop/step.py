"""A step of a procedure, with the steps inside it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from dcf.sop.argument_list import ArgumentList
from dcf.sop.condition import Condition
from dcf.sop.conduct import Approval, Budget, Join, Retry, Transfer, Wait
from dcf.sop.direction import CONTINUE, Direction
from dcf.sop.prose import one_line, tidy

YES_OR_NO = frozenset({"yes", "no"})
"""Choices whose answer is known as true or false, as yes and no are everywhere."""
_OR = re.compile(r"\s*,\s*(?:or\s+)?|\s+or\s+")

StepKind = Literal["task", "manual", "decision", "loop", "parallel", "wait", "approval", "end"]
STEP_KINDS: tuple[StepKind, ...] = (
    "task",
    "manual",
    "decision",
    "loop",
    "parallel",
    "wait",
    "approval",
    "end",
)


@dataclass(frozen=True, slots=True)
class Branch:
    """``If condition, then``."""

    condition: Condition
    then: Direction
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Handler:
    """Where to go when the step failed for good with one of ``errors``; without any, with
    whatever no other handler names. A deadline that passed is ``States.Timeout``, an approval that
    was refused ``DCF.ApprovalRejected``, a manual step that could not be done
    ``DCF.ManualTaskFailed``."""

    errors: tuple[str, ...]
    then: Direction
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Loop:
    """Once for each element of the list ``items`` (dotted name), which is known as ``item``
    inside; ``at_once`` of them at the same time, all that can with None."""

    items: str
    item: str
    at_once: int | None = 1


@dataclass(frozen=True, slots=True)
class Lane:
    """One of the branches of a parallel step. A lane without title has a single step, as a rule.
    Lane i of step 4 numbers its steps 4.i.1, 4.i.2 …; the single step of an untitled one is 4.i."""

    steps: tuple[Step, ...]
    title: str = ""
    line: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", one_line(self.title))


@dataclass(frozen=True, slots=True)
class Command:
    """A command that the source of a step shows, as written; ``destructive``: it takes away what
    somebody may still need. Nobody runs it because it stands there."""

    text: str
    line: int = 0
    destructive: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One numbered step. Which members mean something depends on ``kind``:

    - ``task``: somebody does something; ``skills``, ``reads``, ``writes``, ``role``, ``retries``,
      ``deadline``, ``approval`` (asked before the work), ``handlers``, ``tier``, ``budget`` and
      ``runs``.
    - ``manual``: a person does it, any one of those in ``role``; ``reads``, ``choices``,
      ``writes``, ``retries``, ``deadline`` and ``handlers``. With ``choices`` the person picks one
      of them, which is known as the first of ``writes``; the others, and all without ``choices``,
      are what the person reports.
    - ``decision``: nothing but ``branches``.
    - ``loop``: ``loop`` and ``steps``, once for each item; ``writes`` collects.
    - ``parallel``: ``lanes``, all at the same time; over when all are. What lanes write is known
      afterwards; ``joins`` say what of a name that several of them write.
    - ``wait``: ``wait``.
    - ``approval``: ``approval`` on its own; ``deadline`` is how long the answer may take.
    - ``end``: ``then`` is Finish or Stop.

    After the work the first of ``branches`` that holds says where to go on, else ``then``. Any
    step but ``end`` may have both. Texts are kept in canonical form (see ``prose``), so ``Step``
    values that were made by code print and parse back as they are. ``line`` counts from 1 in the
    source, 0 without one; it is no part of equality.
    """

    number: str
    title: str
    kind: StepKind = "task"
    text: str = ""
    role: str | None = None
    skills: tuple[str, ...] = ()
    """Skills by name, with ``@version`` or range if it matters; hints for the compiler."""
    reads: tuple[Transfer, ...] = ()
    writes: tuple[Transfer, ...] = ()
    branches: tuple[Branch, ...] = ()
    then: Direction = CONTINUE
    wait: Wait | None = None
    approval: Approval | None = None
    choices: tuple[str, ...] = ()
    """What a person can answer."""
    loop: Loop | None = None
    steps: tuple[Step, ...] = ()
    lanes: tuple[Lane, ...] = ()
    joins: tuple[Join, ...] = ()
    retries: tuple[Retry, ...] = ()
    deadline: int | None = None
    """Seconds."""
    handlers: tuple[Handler, ...] = ()
    tier: int | None = None
    """0 to 3: the tier of models that the work needs at least, as in ``dcf.skills.complexity``."""
    budget: Budget | None = None
    line: int = field(default=0, compare=False)
    commands: tuple[Command, ...] = field(default=(), compare=False)
    """Of its text; no part of equality, since the text has them."""
    runs: ArgumentList | None = None
    """What its task runs, by a skill that runs commands."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", one_line(self.title))
        object.__setattr__(self, "text", tidy(self.text))
        object.__setattr__(self, "choices", tuple(one_line(one) for one in self.choices))

    @property
    def people(self) -> tuple[str, ...]:
        """The roles or people that ``role`` of a manual step names: ``dba or sre`` are two."""
        return tuple(one for one in _OR.split(self.role or "") if one)
