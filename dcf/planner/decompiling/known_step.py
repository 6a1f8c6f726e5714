"""The steps that a document was compiled from, by the states they became."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from dcf.planner.states_digest import all_states, states_digest
from dcf.sop import Sop, Step


@dataclass(frozen=True, slots=True)
class KnownStep:
    """``is_unchanged``: its states are as they were compiled."""

    step: Step
    is_unchanged: bool


Known: TypeAlias = Mapping[str, KnownStep]
"""By the name of a step's first state."""


def known_steps(plan: Mapping[str, Any], source: Sop, definition: Mapping[str, Any]) -> Known:
    """The steps of ``source`` that ``plan`` gives states of ``definition`` to."""
    steps = {step.number: step for step in source.all_steps()}
    states = all_states(definition)
    found: dict[str, KnownStep] = {}
    for entry in plan.get("steps", ()):
        names = entry.get("states") if isinstance(entry, Mapping) else None
        if names and entry.get("step") in steps:
            same = entry.get("digest") == states_digest(names, states)
            found[names[0]] = KnownStep(steps[entry["step"]], same)
    return found
