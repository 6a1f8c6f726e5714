"""All rows whose changes are recorded, what they refer to first: a row is made after those it
refers to and removed before them. An agent's rows (``owner``) are removed with it."""

from __future__ import annotations

from collections.abc import Mapping

from dcf.memory.audit.entity import Entity

AGENT = Entity("agent", "agents", key=("id",), long=frozenset({"system"}), unique="name")
BLOCK = Entity("block", "blocks", key=("id",), long=frozenset({"value"}))
HOLDER = Entity("holder", "block_holders", key=("agent_id", "label"), owner="agent_id")
MESSAGE = Entity("message", "messages", key=("id",), owner="agent_id", number="seq")
PASSAGE = Entity(
    "passage", "passages", key=("id",), own=frozenset({"reads", "read_at"}), owner="agent_id"
)

LETTER = Entity("letter", "letters", key=("id",), long=frozenset({"text"}), owner="agent_id")
TURN = Entity("turn", "turns", key=("id",), owner="agent_id")
ATTACHED_TOOL = Entity("tool", "attached_tools", key=("agent_id", "name"), owner="agent_id")
PROJECT = Entity("project", "projects", key=("id",), unique="path")
PROJECT_BLOCK = Entity("project block", "project_blocks", key=("project_id", "label"))
PROJECT_AGENT = Entity("project agent", "project_agents", key=("agent_id",), owner="agent_id")
SESSION = Entity("session", "sessions", key=("id",), owner="agent_id")
SCRATCH_PAD = Entity(
    "scratch pad", "scratch_pads", key=("id",), owner="agent_id", unkept=frozenset({"value"})
)
SKILL = Entity(
    "skill", "skills", key=("agent_id", "name"), long=frozenset({"content"}), owner="agent_id"
)
OBSERVATION = Entity("observation", "observations", key=("id",), unique="digest")
THREAD = Entity("thread", "threads", key=("id",))
CONSOLIDATION = Entity("consolidation", "consolidation_sessions", key=("id",))
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
    )
}

RECORDED = (AGENT, BLOCK, PROJECT, HOLDER, PROJECT_BLOCK, PROJECT_AGENT, SKILL)
"""Entities each of whose rows was created by an event, the last of which is never given up while
the row is there."""
