"""What analyses of sessions have measured, as they were told last."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dcf.knowledge.asking.looking import look
from dcf.knowledge.connection import GraphConnection
from dcf.knowledge.session_fact import PatternFact
from dcf.knowledge.session_telling import PATTERN_LABELS

_TEXT = """MATCH (n:Entity) WHERE n:%s AND n.revision >= 0 %s
RETURN properties(n) AS found ORDER BY n.measured_at DESC LIMIT $limit"""
_WHAT = "the patterns"


async def patterns(
    graph: GraphConnection,
    *,
    session: str | None = None,
    task_type: str | None = None,
    skill: str | None = None,
    companion: str | None = None,
    specialization: str | None = None,
    since: int | None = None,
    until: int | None = None,
    limit: int = 100,
) -> list[PatternFact]:
    """Patterns, the newest first, of those that are given: ``skill`` is a name or a manifest id,
    times (ms) are those of the measuring. Raises GraphAway, GraphRefused, QuestionTooWide."""
    asked: dict[str, tuple[str, Any]] = {
        "session": ("n.session_id = $session", session),
        "task_type": ("n.task_type = $task_type", task_type),
        "companion": ("n.companion_id = $companion", companion),
        "specialization": ("n.specialization = $specialization", specialization),
        "since": ("n.measured_at >= $since", since),
        "until": ("n.measured_at < $until", until),
        "skill": ("(n.skill = $skill OR n.skill STARTS WITH $versions)", skill),
    }
    where = "".join(f" AND {term}" for term, value in asked.values() if value is not None)
    given = {name: value for name, (_, value) in asked.items() if value is not None}
    if skill is not None:
        given["versions"] = f"{skill}@"
    found: list[PatternFact] = []
    for kind, label in PATTERN_LABELS.items():
        for (properties,) in await look(graph, _WHAT, _TEXT % (label, where), **given, limit=limit):
            pattern = _pattern_of(kind, properties)
            if pattern is not None:
                found.append(pattern)
    return sorted(found, key=lambda one: (-one.at, one.id))[:limit]


def _pattern_of(kind: type[PatternFact], properties: Mapping[str, Any]) -> PatternFact | None:
    """The pattern of a node; None where it is none that DCF wrote."""
    bounds = [properties.get("low"), properties.get("high")]
    try:
        told = {
            **properties,
            "id": properties["pattern_id"],
            "at": properties["measured_at"],
            "values": json.loads(properties["measured"]),
            "interval": None if None in bounds else bounds,
        }
        return kind.from_json(told)
    except (KeyError, TypeError, ValueError):
        return None
