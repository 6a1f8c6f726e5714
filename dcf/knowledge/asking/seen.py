"""Outcomes as far as changes are looked for: when, whether, and what they ran with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dcf.knowledge.asking.crossing import Narrowed
from dcf.knowledge.asking.looking import look_fast
from dcf.knowledge.connection import GraphConnection
from dcf.knowledge.session_fact import TASK_WORKFLOW

MOST = 20_000
"""So many outcomes are looked at, the newest."""
_BETWEEN = "\n"
_WHAT = "what changed"
# Ordering whole rows, of which most are then left, would take the longest of all.
_OLDEST = """MATCH (e:StateOutcome) %s
WITH e.ended_at AS at ORDER BY at DESC SKIP $newer LIMIT 1 RETURN at"""
_TEXT = """MATCH (e:StateOutcome) %s
RETURN e.ended_at, e.status, e.workflow_id, e.agent, e.tier, e.model, e.error, e.run,
  string.join(e.skills, $between)"""
_DEFINITIONS = """MATCH (e:WorkflowRun) WHERE e.ended_at >= $since
RETURN e.run, e.workflow_name, e.version, e.digest"""


class Seen(NamedTuple):
    """An outcome, as far as changes are looked for; ``has`` are (kind, value) that it ran with."""

    at: int
    ok: bool
    run: str
    error: str | None
    has: frozenset[tuple[str, str]]


async def newest(graph: GraphConnection, narrowed: Narrowed) -> list[Seen]:
    """The newest ``MOST`` outcomes of ``narrowed`` in the order in which they ended. Raises
    GraphAway, GraphRefused, QuestionTooWide."""
    rows = await _newest(graph, narrowed)
    if not rows:
        return []
    found = await look_fast(graph, _WHAT, _DEFINITIONS, since=rows[0][0])
    # Each delegated task has a definition of its own, which says what it is to do.
    definitions = {
        run: _definition(name, *said)
        for run, name, *said in found
        if not str(name).startswith(TASK_WORKFLOW)
    }
    return _seen(rows, definitions)


async def _newest(graph: GraphConnection, narrowed: Narrowed) -> list[list[Any]]:
    """At most ``MOST`` rows of ``_TEXT`` in the order of time."""
    where, given = narrowed.terms()
    oldest = await look_fast(graph, _WHAT, _OLDEST % where, **given, newer=MOST - 1)
    if oldest:
        where, given = replace(narrowed, since=oldest[0][0]).terms()
    rows = await look_fast(graph, _WHAT, _TEXT % where, **given, between=_BETWEEN)
    # Others may write to the graph too: without a run it was not measured.
    rows = [row for row in rows if isinstance(row[2], str)]
    rows.sort(key=lambda row: (row[0], row[2]))
    return rows[-MOST:]


def _definition(name: str, version: str | None, digest: str) -> str:
    return f"{name} {version or ''} ({digest[:12]})".replace("  ", " ")


def _seen(rows: Sequence[Sequence[Any]], definitions: Mapping[str, str]) -> list[Seen]:
    """``rows`` of ``_TEXT``; what they ran with is made once for all that have the same."""
    sets: dict[tuple[Any, ...], frozenset[tuple[str, str]]] = {}
    seen = []
    for at, status, workflow_id, agent, tier, model, error, run, skills in rows:
        ran_with = (skills, agent, tier, model, definitions.get(run))
        has = sets.get(ran_with)
        if has is None:
            has = sets[ran_with] = _things(*ran_with)
        seen.append(Seen(at, status == "done", workflow_id, error, has))
    return seen


def _things(
    skills: str | None, agent: Any, tier: Any, model: Any, definition: str | None
) -> frozenset[tuple[str, str]]:
    has = {("version", skill) for skill in (skills or "").split(_BETWEEN) if skill}
    others = (("agent", agent), ("tier", tier), ("model", model), ("definition", definition))
    return frozenset(has | {(kind, str(value)) for kind, value in others if value is not None})
