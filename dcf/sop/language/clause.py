"""One thing that a phrase says about a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Member = Literal[
    "kind",
    "role",
    "skills",
    "reads",
    "writes",
    "branch",
    "then",
    "wait",
    "approval",
    "choices",
    "loop",
    "parallel",
    "join",
    "retry",
    "deadline",
    "handler",
    "tier",
    "budget",
    "runs",
]
FLOW: frozenset[Member] = frozenset({"branch", "then", "handler", "kind", "loop", "parallel"})
"""Of what decides which steps are reached."""


@dataclass(frozen=True, slots=True)
class Clause:
    """``value`` is what the member of a step holds, or one element of it: a Branch, a Handler, a
    Retry; for lists as ``skills`` a tuple that is added."""

    member: Member
    value: Any
