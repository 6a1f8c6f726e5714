"""The ``plan`` member of a document: which procedure it was compiled from, and why so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dcf.digest import canonical_json, digest
from dcf.planner.compiling.plan import PlannedStep
from dcf.planner.states_digest import all_states, states_digest
from dcf.sop import Sop, print_markdown


def provenance_of(sop: Sop, asl: Mapping[str, Any], steps: Sequence[PlannedStep]) -> dict[str, Any]:
    """``{sop, asl, steps}``: the procedure as Markdown, the digest of the definition as it was
    compiled, and for each step its states with their digest and the choice of its skills."""
    states = all_states(asl)
    return {
        "sop": print_markdown(sop),
        "asl": digest(canonical_json(asl)),
        "steps": [_entry(step, states) for step in steps],
    }


def _entry(step: PlannedStep, states: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "step": step.number,
        "states": list(step.states),
        "digest": states_digest(step.states, states),
    }
    if step.skills:
        entry |= {
            "skills": list(step.skills),
            "why": step.why,
            "runners_up": [
                {"skill": f"{one.skill.name}@{one.skill.version}", "score": round(one.score, 2)}
                for one in step.runners_up
            ],
            "tier": step.tier,
            "risk": step.risk,
        }
    return entry
