"""What there is in the graph: how much, of what, since when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dcf.evidence import Counts
from dcf.knowledge.asking.groups import Chosen, named
from dcf.knowledge.asking.looking import look
from dcf.knowledge.connection import GraphConnection

_WHAT = "counting what there is"
_NODES = "MATCH (n) RETURN labels(n), n.group_id, count(n)"
_FACTS = """MATCH ()-[x:RELATES_TO]->()
RETURN x.name, x.group_id, count(x), sum(CASE WHEN x.invalid_at IS NULL THEN 0 ELSE 1 END)"""
# Whatever else bears the label was not measured.
_SPAN = """MATCH (e:StateOutcome) WHERE e.ended_at >= 0 AND e.run <> ''
RETURN count(e), sum(CASE e.status WHEN 'done' THEN 1 ELSE 0 END), min(e.ended_at), max(e.ended_at)
"""


@dataclass(frozen=True, slots=True)
class Overview:
    """``episodes``, ``entities`` and ``facts`` count nodes and edges by label or name (``over``:
    facts that hold no more); ``groups`` count nodes by group; ``outcomes`` and when the first and
    the last of them ended (ms, None without any)."""

    episodes: dict[str, int]
    entities: dict[str, int]
    facts: dict[str, int]
    over: int
    groups: dict[str, int]
    outcomes: Counts
    first_at: int | None
    last_at: int | None

    def to_json(self) -> dict[str, Any]:
        low, high = self.outcomes.interval()
        return {
            "episodes": self.episodes,
            "entities": self.entities,
            "facts": self.facts,
            "facts_over": self.over,
            "groups": self.groups,
            "outcomes": {
                "n": self.outcomes.n,
                "ok": self.outcomes.successes,
                "rate": self.outcomes.rate,
                "low": round(low, 4),
                "high": round(high, 4),
                "first_at": self.first_at,
                "last_at": self.last_at,
            },
        }


async def overview(graph: GraphConnection, groups: Chosen) -> Overview:
    """What of ``groups`` there is. Raises GraphAway, GraphRefused, QuestionTooWide."""
    episodes: dict[str, int] = {}
    entities: dict[str, int] = {}
    by_group: dict[str, int] = {}
    for labels, group, n in await look(graph, _WHAT, _NODES):
        kind = "Episodic" if "Episodic" in labels else "Entity"
        label = next((one for one in labels if one not in ("Episodic", "Entity")), kind)
        if not groups.takes(labels, group):
            continue
        counted = episodes if kind == "Episodic" else entities
        counted[label] = counted.get(label, 0) + n
        by_group[named(group)] = by_group.get(named(group), 0) + n
    facts: dict[str, int] = {}
    over = 0
    for name, group, n, gone in await look(graph, _WHAT, _FACTS):
        if groups.takes_fact(name, group):
            facts[named(name)] = facts.get(named(name), 0) + n
            over += int(gone)
    n, ok, first, last = (await look(graph, _WHAT, _SPAN) or [[0, 0, None, None]])[0]
    if not groups.takes_label("StateOutcome"):
        n, ok, first, last = 0, 0, None, None
    return Overview(
        dict(sorted(episodes.items())),
        dict(sorted(entities.items())),
        dict(sorted(facts.items())),
        over,
        dict(sorted(by_group.items())),
        Counts(int(ok or 0), n - int(ok or 0)),
        first,
        last,
    )
