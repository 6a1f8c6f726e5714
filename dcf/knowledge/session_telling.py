"""From what sessions tell to nodes: what each has, what it mentions, and what it says of others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dcf.knowledge.cleaning import LONGEST, clean
from dcf.knowledge.episode import Entity, Fact, iso
from dcf.knowledge.naming import graph_uuid
from dcf.knowledge.privacy import Privacy
from dcf.knowledge.schema import EntityLabel, PatternLabel
from dcf.knowledge.session_fact import (
    CompanionPatternFact,
    DelegationFact,
    PatternFact,
    SessionFact,
    SessionPatternFact,
    SessionRecord,
    SkillMetricFact,
)
from dcf.knowledge.telling import error_kind, skill_named, task_type

KEPT_IDS = 100
"""So many ids stand in a list."""
PATTERN_LABELS: dict[type[PatternFact], PatternLabel] = {
    SessionPatternFact: "SessionPattern",
    SkillMetricFact: "SkillMetric",
    CompanionPatternFact: "CompanionPattern",
}


@dataclass(frozen=True, slots=True)
class ToldNode:
    """A node: ``text`` is what it is found by, ``fields`` are its own properties. An episode has
    ``mentions``; ``facts`` hold from ``at`` (ms) on, or since before, with whatever text was told
    last where they are ``restated``."""

    uuid: str
    label: EntityLabel | None
    name: str
    text: str
    at: int
    fields: dict[str, Any]
    facts: tuple[Fact, ...]
    mentions: tuple[Entity, ...] = ()

    @property
    def restated(self) -> bool:
        return self.label in PATTERN_LABELS.values()


def tell_record(record: SessionRecord, privacy: Privacy) -> ToldNode:
    """The node of ``record``. Ids are written as they are, other texts cleaned and cut."""
    match record:
        case SessionFact():
            return _session(record, privacy)
        case DelegationFact():
            return _delegation(record, privacy)
        case _:
            return _pattern(record, privacy)


def session_named(session_id: str) -> Entity:
    """The session with this id."""
    return Entity("Session", session_id, properties={"session_id": session_id})


def _agent(agent_id: str) -> Entity:
    return Entity("Agent", agent_id)


def _session(told: SessionFact, privacy: Privacy) -> ToldNode:
    here = session_named(told.session_id)
    objective = privacy.text(told.objective)
    fields = {
        "session_id": told.session_id,
        "conductor_id": told.conductor_id,
        "objective": objective,
        "state": told.state,
        "began_at": told.created_at,
        "ended_at": told.ended_at,
        "companions": told.companions,
        **{f"tasks_{name}": count for name, count in told.tasks.items()},
        "workflows": list(told.workflows[:KEPT_IDS]),
    }
    took_part = _took_part(told.conductor_id, told.session_id)
    return ToldNode(
        here.uuid, "Session", here.name, objective or here.name, told.created_at, fields,
        (took_part,),
    )  # fmt: skip


def _delegation(told: DelegationFact, privacy: Privacy) -> ToldNode:
    task = task_type(privacy.text(told.task_type))
    skills = [privacy.text(skill) for skill in told.skills[:KEPT_IDS]]
    error = privacy.optional(told.error_code)
    companion = _agent(told.companion_id) if told.companion_id else None
    session = session_named(told.session_id)
    mentions = [session, task, *map(skill_named, skills), _agent(told.conductor_id)]
    facts = [_took_part(told.conductor_id, told.session_id)]
    if companion is not None:
        mentions.append(companion)
        facts.append(_took_part(companion.name, told.session_id))
        text = f"Agent {told.conductor_id} has delegated tasks to {companion.name}."
        facts.append(Fact("DELEGATED_TO", _agent(told.conductor_id), companion, text))
    if error:
        mentions.append(error_kind(error))
    began = told.started_at
    fields = {
        "task_id": told.task_id,
        "workflow_id": told.run,
        "session_id": told.session_id,
        "conductor_id": told.conductor_id,
        "companion_id": told.companion_id,
        "companion_name": privacy.optional(told.companion_name),
        "specialization": privacy.optional(told.specialization),
        "task_type": task.name,
        "skills": skills,
        "kind": told.kind,
        "status": told.status,
        "error": error,
        "priority": privacy.text(told.priority),
        "delegated_at": told.delegated_at,
        "started_at": began,
        "ended_at": told.finished_at,
        "wait_ms": None if began is None else max(0, began - told.delegated_at),
        "duration_ms": None if began is None else max(0, told.finished_at - began),
        "attempts": told.attempts,
        "tier": told.tier,
        "model": privacy.optional(told.model),
        "cost_usd": told.cost_usd,
        "tokens": told.tokens,
        "day": iso(told.finished_at)[:10],
    }
    by = f" by {companion.name}" if companion is not None else ""
    end = f"{told.status}: {error}" if error else told.status
    return ToldNode(
        uuid=delegation_uuid(told.task_id),
        label=None,
        name=told.task_id,
        text=f"Task {task.name} of session {told.session_id}{by}: {end}.",
        at=told.delegated_at,
        fields=fields,
        facts=tuple(facts),
        mentions=tuple(mentions),
    )


def delegation_uuid(task_id: str) -> str:
    """The id of the episode of a delegated task."""
    return graph_uuid("delegation", task_id)


def _pattern(told: PatternFact, privacy: Privacy) -> ToldNode:
    label = PATTERN_LABELS[type(told)]
    here = Entity(label, told.id)
    subject = privacy.text(told.subject)
    statement = privacy.text(told.statement, LONGEST)
    text = statement or subject or privacy.text(told.id)
    low, high = told.interval or (None, None)
    fields = {
        "pattern_id": privacy.text(told.id),
        "session_id": told.session_id,
        "conductor_id": told.conductor_id,
        "subject": subject,
        "statement": statement,
        "task_type": privacy.text(told.task_type),
        "skill": privacy.text(told.skill),
        "companion_id": told.companion_id,
        "specialization": privacy.text(told.specialization),
        "observations": told.observations,
        "measured": json.dumps(clean(dict(told.values), privacy), sort_keys=True),
        "confidence": told.confidence,
        "low": low,
        "high": high,
        "evidence": list(told.evidence[:KEPT_IDS]),
        "measured_at": told.at,
    }
    facts = [Fact("MEASURED_IN", here, session_named(told.session_id), text)]
    facts += [Fact("DESCRIBES", here, one, text) for one in _subjects(told, privacy)]
    return ToldNode(here.uuid, label, text, text, told.at, fields, tuple(facts))


def _subjects(told: PatternFact, privacy: Privacy) -> Iterator[Entity]:
    """What a pattern is about, as far as it has a node."""
    if told.task_type:
        yield task_type(privacy.text(told.task_type))
    if told.skill:
        yield skill_named(privacy.text(told.skill))
    if told.companion_id:
        yield _agent(told.companion_id)


def _took_part(agent_id: str, session_id: str) -> Fact:
    text = f"Agent {agent_id} took part in session {session_id}."
    return Fact("TOOK_PART_IN", _agent(agent_id), session_named(session_id), text)
