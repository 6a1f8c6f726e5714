"""All rows whose changes are recorded, what they refer to first: a row is made after those it
refers to and removed before them. An agent's rows (``owner``) are removed with it."""

from __future__ import annotations

from collections.abc import Mapping

from dcf.memory.audit.belongings import Belongings
from dcf.memory.audit.entity import Entity

AGENT = Entity(
    "agent",
    "agents",
    key=("id",),
    long=frozenset({"system"}),
    unique="name",
    names=frozenset({"id", "name"}),
    codes=frozenset({"lifecycle", "template_digest"}),
)
BLOCK = Entity(
    "block",
    "blocks",
    key=("id",),
    long=frozenset({"value"}),
    names=frozenset({"label", "project"}),
    codes=frozenset({"id", "type", "on_limit", "provenance"}),
)
HOLDER = Entity(
    "holder",
    "block_holders",
    key=("agent_id", "label"),
    owner="agent_id",
    names=frozenset({"label"}),
    codes=frozenset({"agent_id", "block_id"}),
)
MESSAGE = Entity(
    "message",
    "messages",
    key=("id",),
    owner="agent_id",
    number="seq",
    names=frozenset({"session_id", "run_id", "sender", "correlation_id"}),
    codes=frozenset({"id", "agent_id", "role"}),
)
PASSAGE = Entity(
    "passage",
    "passages",
    key=("id",),
    own=frozenset({"reads", "read_at"}),
    owner="agent_id",
    codes=frozenset({"id", "agent_id"}),
)
LETTER = Entity(
    "letter",
    "letters",
    key=("id",),
    long=frozenset({"text"}),
    owner="agent_id",
    names=frozenset({"sender", "correlation_id"}),
    codes=frozenset({"id", "agent_id", "state"}),
)
TURN = Entity(
    "turn",
    "turns",
    key=("id",),
    owner="agent_id",
    names=frozenset({"correlation_id", "holder"}),
    codes=frozenset({"id", "agent_id", "letter_id", "state"}),
)
ATTACHED_TOOL = Entity(
    "tool",
    "attached_tools",
    key=("agent_id", "name"),
    owner="agent_id",
    names=frozenset({"name"}),
    codes=frozenset({"agent_id"}),
)
PROJECT = Entity(
    "project",
    "projects",
    key=("id",),
    unique="path",
    names=frozenset({"path"}),
    codes=frozenset({"id", "last_agent_id"}),
)
PROJECT_BLOCK = Entity(
    "project block",
    "project_blocks",
    key=("project_id", "label"),
    names=frozenset({"label"}),
    codes=frozenset({"project_id", "block_id"}),
)
PROJECT_AGENT = Entity(
    "project agent",
    "project_agents",
    key=("agent_id",),
    owner="agent_id",
    codes=frozenset({"agent_id", "project_id"}),
)
SESSION = Entity(
    "session",
    "sessions",
    key=("id",),
    owner="agent_id",
    names=frozenset({"project"}),
    codes=frozenset({"id", "agent_id"}),
)
SCRATCH_PAD = Entity(
    "scratch pad",
    "scratch_pads",
    key=("id",),
    owner="agent_id",
    unkept=frozenset({"value"}),
    names=frozenset({"task"}),
    codes=frozenset({"id", "agent_id", "outcome", "digest"}),
)
SKILL = Entity(
    "skill",
    "skills",
    key=("agent_id", "name"),
    long=frozenset({"content"}),
    owner="agent_id",
    names=frozenset({"name", "source"}),
    codes=frozenset({"agent_id"}),
)
OBSERVATION = Entity(
    "observation",
    "observations",
    key=("id",),
    own=frozenset({"revision", "updated_at", "times", "at", "used"}),
    unique="digest",
    names=frozenset({"project", "workflow", "source_type", "source_id", "state"}),
    codes=frozenset({"id", "type", "agent_id", "digest", "said"}),
)
OBSERVED_EVENT = Entity(
    "observed event",
    "observed_events",
    key=("source_type", "source_id", "event"),
    names=frozenset({"source_type", "source_id", "event"}),
    codes=frozenset(),
)
OCCURRENCE = Entity(
    "occurrence",
    "observation_origins",
    key=("observation_id", "source_type", "source_id"),
    names=frozenset({"source_type", "source_id", "state"}),
    codes=frozenset({"observation_id"}),
)
OBSERVATION_USE = Entity(
    "use",
    "observation_uses",
    key=("observation_id", "used_by"),
    names=frozenset({"used_by"}),
    codes=frozenset({"observation_id"}),
)
SOURCES = Belongings(
    "sources",
    OCCURRENCE.table,
    key=("observation_id",),
    own=frozenset({OCCURRENCE.table, OBSERVATION_USE.table}),
    codes=frozenset({"observation_id"}),
    parts=(OCCURRENCE, OBSERVATION_USE),
)
"""Each time that an observation was seen, and who used it."""
NODE = Entity(
    "node",
    "nodes",
    key=("id",),
    unique="address",
    names=frozenset({"project", "checkpoint", "name", "address"}),
    codes=frozenset({"id", "parent"}),
)
NODE_ENTRY = Entity(
    "entry",
    "node_entries",
    key=("id",),
    long=frozenset({"text"}),
    codes=frozenset({"id", "node_id", "kind", "shadows"}),
)
EXTRACTION_EVENT = Entity(
    "event for extraction",
    "extraction_events",
    key=("number",),
    names=frozenset({"source_type", "source_id", "event", "project"}),
    codes=frozenset({"state"}),
)
EXTRACTION_REQUEST = Entity(
    "request of the extraction",
    "extraction_requests",
    key=("number",),
    codes=frozenset(),
)
EXTRACTION_STANDING = Entity(
    "standing of the extraction",
    "extraction_standing",
    key=("id",),
    codes=frozenset({"stopped_for"}),
)
THREAD = Entity(
    "thread",
    "threads",
    key=("id",),
    names=frozenset({"source_type", "source_id", "project"}),
    codes=frozenset({"id", "status", "parent"}),
)
THREAD_TURN = Entity(
    "turn of a thread",
    "thread_turns",
    key=("thread_id", "number"),
    # An id of the source is cleaned before the turn's mark is made of it.
    codes=frozenset({"thread_id", "key", "standing"}),
)
THREAD_FILE = Entity(
    "file of threads",
    "thread_files",
    key=("path",),
    names=frozenset({"path"}),
    codes=frozenset({"stamp"}),
)
DOCUMENT = Entity(
    "document",
    "documents",
    key=("id",),
    names=frozenset({"project", "path"}),
    codes=frozenset({"id", "format", "digest", "stamp"}),
)
DOCUMENT_PIECE = Entity(
    "piece of a document",
    "document_pieces",
    key=("document_id", "number"),
    codes=frozenset({"document_id"}),
)
PLAYBOOK = Entity(
    "playbook",
    "playbooks",
    key=("id",),
    names=frozenset({"project"}),
    codes=frozenset({"id"}),
)
CONSOLIDATION = Entity(
    "consolidation",
    "consolidation_sessions",
    key=("id",),
    codes=frozenset({"id", "agent_id", "status", "strategies", "before", "after"}),
)
"""The log of consolidations. It is of nobody: it outlives its agents."""

ENTITIES: Mapping[str, Entity] = {
    one.name: one
    for one in (
        AGENT,
        BLOCK,
        PROJECT,
        HOLDER,
        PROJECT_BLOCK,
        PROJECT_AGENT,
        MESSAGE,
        PASSAGE,
        LETTER,
        TURN,
        ATTACHED_TOOL,
        SESSION,
        SCRATCH_PAD,
        SKILL,
        OBSERVATION,
        OCCURRENCE,
        SOURCES,
        NODE,
        NODE_ENTRY,
        PLAYBOOK,
    )
}

RECORDED = (AGENT, BLOCK, PROJECT, HOLDER, PROJECT_BLOCK, PROJECT_AGENT, SKILL)
"""Entities each of whose rows was created by an event, the last of which is never given up while
the row is there."""
