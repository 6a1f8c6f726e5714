"""Runs like another one: the same workflow, skills, tasks and errors, and what was said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dcf.knowledge.asking.errors import UnknownThing
from dcf.knowledge.asking.looking import look, look_fast
from dcf.knowledge.connection import GraphConnection
from dcf.knowledge.meaning import never_zero
from dcf.knowledge.session_fact import TASK_WORKFLOW

if TYPE_CHECKING:
    from dcf.search import Embedder

CANDIDATES = 300
"""So many runs are held against the one asked for: the newest that share anything with it."""
WEIGHTS: Mapping[str, float] = {
    "workflow": 0.2,
    "skills": 0.25,
    "tasks": 0.15,
    "errors": 0.25,
    "text": 0.15,
}
"""What each likeness (0 to 1) counts; the score is their sum."""
_WHAT = "finding runs alike"
_BETWEEN = "\n"
_SAME_WORKFLOW = """MATCH (e:WorkflowRun) WHERE e.workflow_name = $name AND e.invalid_at IS NULL
RETURN e.ended_at, e.workflow_id ORDER BY e.ended_at DESC LIMIT $most"""
# Of delegated tasks only others are alike: a workflow has several of what they are.
_SAME_THING = """MATCH (e:StateOutcome) WHERE e.status = 'failed' AND e.error IN $errors
AND (e.workflow_name STARTS WITH $prefix) = $task
RETURN e.ended_at, e.workflow_id ORDER BY e.ended_at DESC LIMIT $most"""
_SAME_TASK = """MATCH (e:StateOutcome) WHERE e.task_type IN $tasks
AND (e.workflow_name STARTS WITH $prefix) = $task
RETURN e.ended_at, e.workflow_id ORDER BY e.ended_at DESC LIMIT $most"""
_ENDS = """UNWIND $ids AS id MATCH (e:WorkflowRun {workflow_id: id}) WHERE e.invalid_at IS NULL
RETURN e.workflow_id, e.workflow_name, e.status, e.error, e.cause, e.ended_at"""
_STATES = """UNWIND $ids AS id MATCH (e:StateOutcome {workflow_id: id})
RETURN e.workflow_id, e.task_type, e.error, e.cause, e.workflow_name, e.ended_at,
  string.join(e.skills, $between)"""


@dataclass(slots=True)
class Profile:
    """What a run is held against others by."""

    workflow_id: str
    workflow: str = ""
    status: str = "unfinished"
    ended_at: int = 0
    skills: set[str] = field(default_factory=set)
    tasks: set[str] = field(default_factory=set)
    errors: set[str] = field(default_factory=set)
    said: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join(dict.fromkeys(self.said))


@dataclass(frozen=True, slots=True)
class Alike:
    """A run, how much it is like the one asked for (0 to 1), and why: sentences, the weightiest
    first."""

    workflow_id: str
    workflow: str
    status: str
    ended_at: int
    score: float
    reasons: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "run": self.workflow_id,
            "workflow": self.workflow,
            "status": self.status,
            "ended_at": self.ended_at,
            "score": round(self.score, 4),
            "reasons": list(self.reasons),
        }


async def runs_like(
    graph: GraphConnection, workflow_id: str, embedder: Embedder, *, limit: int = 10
) -> list[Alike]:
    """Up to ``limit`` runs like ``workflow_id``, the likest first: delegated tasks if it is one,
    else none of them. Raises UnknownThing, GraphAway, GraphRefused, QuestionTooWide."""
    own = (await _profiles(graph, [workflow_id])).get(workflow_id)
    if own is None:
        raise UnknownThing(kind="run", name=workflow_id)
    is_task = (own.workflow or "").startswith(TASK_WORKFLOW)
    wanted = {"most": CANDIDATES, "prefix": TASK_WORKFLOW, "task": is_task}
    found = [
        *await look(graph, _WHAT, _SAME_WORKFLOW, name=own.workflow, most=CANDIDATES),
        *await look(graph, _WHAT, _SAME_TASK, **wanted, tasks=sorted(own.tasks)),
    ]
    if own.errors:
        found += await look(graph, _WHAT, _SAME_THING, **wanted, errors=sorted(own.errors))
    newest = dict.fromkeys(run for _, run in sorted(found, reverse=True) if run != workflow_id)
    others = await _profiles(graph, list(newest)[:CANDIDATES])
    return ranked_alike(own, list(others.values()), embedder)[:limit]


def ranked_alike(own: Profile, others: Sequence[Profile], embedder: Embedder) -> list[Alike]:
    """``others`` by how much they are like ``own``; those that share nothing are left out."""
    closeness = _closeness(own, others, embedder)
    scored = [_alike(own, other, near) for other, near in zip(others, closeness, strict=True)]
    kept = [one for one in scored if one.reasons]
    return sorted(kept, key=lambda one: (-one.score, -one.ended_at, one.workflow_id))


def _alike(own: Profile, other: Profile, near: float) -> Alike:
    parts = {
        "workflow": float(bool(own.workflow) and own.workflow == other.workflow),
        "skills": _shared(own.skills, other.skills),
        "tasks": _shared(own.tasks, other.tasks),
        "errors": _shared(own.errors, other.errors),
        "text": near,
    }
    reasons = {
        "workflow": f"the same workflow, {own.workflow}",
        "skills": f"the same skills: {_few(own.skills & other.skills)}",
        "tasks": f"the same tasks: {_few(own.tasks & other.tasks)}",
        "errors": f"the same errors: {_few(own.errors & other.errors)}",
        "text": f"what went wrong reads alike ({near:.2f})",
    }
    weighed = {name: WEIGHTS[name] * value for name, value in parts.items()}
    order = sorted((name for name in weighed if weighed[name] > 0), key=lambda n: -weighed[n])
    return Alike(
        workflow_id=other.workflow_id,
        workflow=other.workflow,
        status=other.status,
        ended_at=other.ended_at,
        score=sum(weighed.values()),
        reasons=tuple(reasons[name] for name in order),
    )


def _shared(first: set[str], second: set[str]) -> float:
    """Jaccard's index; 0 where neither has any."""
    return len(first & second) / len(first | second) if first | second else 0.0


def _few(names: set[str]) -> str:
    shown = sorted(names)
    return ", ".join(shown[:3]) + (f" and {len(shown) - 3} more" if len(shown) > 3 else "")


def _closeness(own: Profile, others: Sequence[Profile], embedder: Embedder) -> list[float]:
    """The cosine of what was said of failures, from 0 on; 0 where nothing was said."""
    texts = [other.text for other in others]
    wanted = [text for text in dict.fromkeys(texts) if text]
    if not own.text or not wanted:
        return [0.0] * len(texts)
    rows = embedder.embed([own.text, *wanted]).tolist()
    vectors = [never_zero(text, row) for text, row in zip([own.text, *wanted], rows, strict=True)]
    near = {
        text: max(0.0, _cosine(vectors[0], vector))
        for text, vector in zip(wanted, vectors[1:], strict=True)
    }
    return [near.get(text, 0.0) for text in texts]


def _cosine(first: Sequence[float], second: Sequence[float]) -> float:
    product = sum(a * b for a, b in zip(first, second, strict=True))
    lengths = sum(a * a for a in first) * sum(b * b for b in second)
    return float(product / lengths**0.5)


async def _profiles(graph: GraphConnection, ids: Sequence[str]) -> dict[str, Profile]:
    """The profiles of those of ``ids`` that the graph knows, in their order."""
    made: dict[str, Profile] = {}
    states = await look_fast(graph, _WHAT, _STATES, ids=list(ids), between=_BETWEEN)
    for run, task, error, cause, workflow, at, skills in states:
        profile = made.setdefault(run, Profile(run, workflow))
        profile.tasks.add(task)
        profile.skills |= {skill for skill in (skills or "").split(_BETWEEN) if skill}
        profile.ended_at = max(profile.ended_at, at)
        if error:
            profile.errors.add(error)
            profile.said.append(cause or error)
    ends = await look_fast(graph, _WHAT, _ENDS, ids=list(ids))
    for run, workflow, status, error, cause, at in ends:
        profile = made.setdefault(run, Profile(run))
        profile.workflow, profile.status, profile.ended_at = workflow, status, at
        if error:
            profile.errors.add(error)
            profile.said.append(cause or error)
    return {id_: made[id_] for id_ in ids if id_ in made}
