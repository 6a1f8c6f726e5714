"""What a review of a workflow found, in the words of ``validate_workflow``."""

from __future__ import annotations

from typing import Any

from dcf.skills import Manifest
from dcf.skills.complexity import ComplexityProfile, assess
from dcf.workflow import Graph, Imported, Review


def exit_code_of(review: Review) -> int:
    """0 without errors, 1 for the form, 2 for references, 3 for the graph; the first that holds."""
    for code, kind in ((1, "schema"), (2, "references"), (3, "graph")):
        if review.of(kind):
            return code
    return 0


def graph_report(graph: Graph) -> dict[str, Any]:
    return {
        "start_exists": graph.start_exists,
        "missing_states": list(graph.missing),
        "unreachable_states": list(graph.unreachable),
        "invalid_transitions": [{"state": one, "to": other} for one, other in graph.invalid],
        "terminal_states_ok": graph.terminal,
    }


def import_report(review: Review) -> dict[str, Any]:
    """What the document refers to, and what of it was found."""
    return {
        "af_imports_loaded": [
            {**_loaded(one), "agents": len(one.names), "tools": len(one.tools)}
            for one in review.imports.agent_files
        ],
        "skill_imports_loaded": [
            {**_loaded(one), "skills": len(one.names)} for one in review.imports.skill_files
        ],
        "agents_index_size": len(review.imports.agents),
        "skills_index_size": len(review.imports.skills),
        "unresolved_agent_refs": [
            {"where": one.where, "ref": one.ref} for one in review.unknown_agents
        ],
        "unresolved_skill_ids": list(review.unknown_skills),
        "state_skill_map": {
            state: [
                {"skill": f"{one.name}@{one.version}", "manifestId": one.manifest_id}
                for one in skills
            ]
            for state, skills in review.skills.items()
        },
        "complexity": complexity_of(review),
    }


def complexity_of(review: Review) -> dict[str, Any]:
    """How complex the Tasks are, by the profiles of their skills."""
    skills: dict[str, Manifest] = {
        one.manifest_id: one for group in review.skills.values() for one in group
    }
    profiles = {id_: ComplexityProfile.of(one) for id_, one in skills.items()}
    known = {id_: profile for id_, profile in profiles.items() if profile is not None}
    tiers = dict.fromkeys(map(str, range(4)), 0)
    for group in review.skills.values():
        if group:
            tiers[str(assess(group).tier)] += 1
    return {
        "skills_with_profiles": len(known),
        "skills_without_profiles": sorted(profiles.keys() - known.keys()),
        "provisional_profiles": sorted(
            id_ for id_, profile in known.items() if profile.maturity == "provisional"
        ),
        "profile_coverage": round(100 * len(known) / len(profiles), 1) if profiles else 0.0,
        "tier_distribution": tiers,
    }


def _loaded(one: Imported) -> dict[str, Any]:
    return {"uri": one.uri, "status": "error" if one.error else "ok", "error": one.error}
