"""Finding what was remembered: archives, search, and the record of changes with the way back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from typing import Annotated, Any, Literal

from pydantic import Field

from dcf.mcp.agent_life import by_tool
from dcf.mcp.agents_home import local_memory
from dcf.mcp.arguments import Alias
from dcf.mcp.envelope import BadArguments, Envelope, Refused
from dcf.mcp.help import Obvious
from dcf.mcp.platform import Platform
from dcf.mcp.tool import tool
from dcf.memory import (
    TIME_EXAMPLES,
    Event,
    Found,
    Kind,
    NewPassage,
    Passage,
    TimeSpan,
    span_of,
    uri_of,
)
from dcf.problem import Problem
from dcf.retrieval import AuditLog, Caller, logged_among
from dcf.workflow import iso

AgentId = Annotated[str, Obvious("Id of the agent.")]
Tags = Annotated[list[str] | None, Obvious("List of tags."), Alias("tags")]
Limit = Annotated[int, Obvious("At most so many."), Field(ge=1, le=100)]
_LONGEST_TEXT = 1_000
_SEARCHED: tuple[Kind, ...] = ("message", "passage", "block", "observation", "thread")
"""What ``search_memory`` searches: not what branches of a tree keep apart."""
_NOTHING = (
    "no passage has a word of it or is near enough in meaning: ask in other words;"
    " archival_memory_list has them all"
)


class Archived(Envelope, total=False):
    """A passage of an archive."""

    agent_id: Annotated[str, Field(description="Whose archive.")]
    passage_id: Annotated[str, Field(description="Its id.")]


class Passages(Envelope, total=False):
    """Passages of an archive."""

    agent_id: Annotated[str, Field(description="Whose archive.")]
    passages: Annotated[
        list[dict[str, Any]],
        Field(description="{passage_id, content, tags, source, created_at}."),
    ]
    next_after: Annotated[str | None, Field(description="Pass it as after for more.")]


class FoundTexts(Envelope, total=False):
    """What a search found."""

    found: Annotated[
        list[dict[str, Any]],
        Field(
            description="{kind, ref, uri, agent_id, label, text, score, at, seq, role, project},"
            " best first."
        ),
    ]


class History(Envelope, total=False):
    """Changes of the memory, the newest first."""

    events: Annotated[
        list[dict[str, Any]],
        Field(
            description="{seq, at, by, reason, operation, entity, entity_id, agent_id, label,"
            " change}; long texts are cut."
        ),
    ]
    next_before: Annotated[int | None, Field(description="Pass it as before for older ones.")]


@tool("companion", "strategist", "reflector", strict=True)
async def archival_memory_insert(
    platform: Platform,
    agent_id: AgentId,
    content: Annotated[str, Obvious("The text.")],
    tags_json: Tags = None,
) -> Archived:
    """Put a text into an agent's archive, where search finds it."""
    home = await platform.home()
    new = NewPassage(content, tags=tuple(tags_json or ()), source="mcp")
    by = by_tool("archival_memory_insert")
    passage = await home.runtime.insert_passage(agent_id, new, by=by)
    return {"status": "kept", "agent_id": agent_id, "passage_id": passage.id}


@tool("companion", "strategist", "reflector")
async def archival_memory_search(
    platform: Platform,
    agent_id: AgentId,
    query: Annotated[str, Obvious("Words and meaning.")],
    top_k: Limit = 10,
) -> Passages:
    """Search an agent's archive."""
    home = await platform.home()
    found = await home.runtime.search_passages(agent_id, query, top_k)
    answer: Passages = {"agent_id": agent_id, "passages": [_passage(one) for one in found]}
    if not found:
        answer["warnings"] = [_NOTHING]
    return answer


@tool("strategist")
async def archival_memory_list(
    platform: Platform,
    agent_id: AgentId,
    limit: Limit = 50,
    after: Annotated[str | None, Obvious("next_after of the page before.")] = None,
    tags_json: Tags = None,
) -> Passages:
    """List an agent's archive, the oldest first."""
    home = await platform.home()
    if home.is_local:
        found = await home.memory.passages.list(
            agent_id, tags=tags_json or (), limit=limit, after=after
        )
    elif after is None and not tags_json:
        found = await home.runtime.passages(agent_id, limit)
    else:
        raise Refused("not_here", "this runtime lists archives without tags and pages")
    return {
        "agent_id": agent_id,
        "passages": [_passage(one) for one in found],
        "next_after": found[-1].id if home.is_local and len(found) == limit else None,
    }


@tool(strict=True)
async def archival_memory_delete(
    platform: Platform, agent_id: AgentId, passage_id: Annotated[str, Obvious("Id of the passage.")]
) -> Archived:
    """Delete a passage of an agent's archive."""
    home = await platform.home()
    by = by_tool("archival_memory_delete")
    await home.runtime.delete_passage(agent_id, passage_id, by=by)
    return {"status": "deleted", "agent_id": agent_id, "passage_id": passage_id}


@tool("strategist", "reflector")
async def search_memory(
    platform: Platform,
    query: Annotated[str, "Empty: the newest."],
    agent_id: Annotated[str | None, "Else everybody's."] = None,
    kinds_json: Annotated[
        list[Literal["message", "passage", "block", "observation", "thread"]] | None,
        Obvious("Only these kinds; observation and thread are of no agent."),
    ] = None,
    labels_json: Annotated[list[str] | None, Obvious("Only blocks of these labels.")] = None,
    limit: Limit = 10,
    during: Annotated[str | None, "last week, 2026-11"] = None,
) -> FoundTexts:
    """Search blocks, messages, archives, observations and turns of threads."""
    memory = await local_memory(platform)
    if agent_id is not None:
        await memory.agents.get(agent_id)
    span = _span(during, platform) if during else None
    found = await memory.search.find(
        query,
        k=limit,
        agent_ids=None if agent_id is None else [agent_id],
        kinds=kinds_json or _SEARCHED,
        labels=labels_json or (),
        since=None if span is None else span.first,
        until=None if span is None else span.last,
    )
    logged = await logged_among(memory, found)
    if logged:
        audit = AuditLog.at_home(platform.config.home, memory.ledger.clock, platform.config.env)
        for project, citations in logged.items():
            audit.note_read(Caller("mcp"), project, citations)
        await audit.close()
    return {"found": [_found(one) for one in found]}


@tool("strategist")
async def read_memory_history(
    platform: Platform,
    agent_id: Annotated[str | None, Obvious("Of this agent.")] = None,
    label: Annotated[str | None, Obvious("Of the block with this label.")] = None,
    limit: Limit = 50,
    before: Annotated[int | None, Obvious("next_before of the page before.")] = None,
) -> History:
    """Read who changed what in the memory, and why; deleted agents too."""
    memory = await local_memory(platform)
    found = await memory.events.list(agent_id=agent_id, label=label, limit=limit, before=before)
    return {
        "events": [_event(one) for one in found],
        "next_before": found[-1].seq if len(found) == limit else None,
    }


@tool(strict=True)
async def rollback_memory(
    platform: Platform,
    agent_id: AgentId,
    to_event: Annotated[int, "seq of the event after which all is undone.", Field(ge=0)],
    label: Annotated[str | None, Obvious("Only the block with this label.")] = None,
    dry_run: Annotated[bool, Obvious("Only say what would be undone.")] = False,
) -> History:
    """Make an agent's memory, or one block of it, what it was just after an event. It is recorded,
    and can be rolled back."""
    memory = await local_memory(platform)
    by = by_tool("rollback_memory")
    if label is None:
        done = await memory.events.roll_back_agent(agent_id, to_event, by=by, dry_run=dry_run)
    else:
        block = await memory.blocks.read(agent_id, label)
        done = await memory.events.roll_back_block(block.id, to_event, by=by, dry_run=dry_run)
    if not done and not await memory.events.list(agent_id=agent_id, limit=1):
        await memory.agents.get(agent_id)
    status = "unchanged" if not done else "would_roll_back" if dry_run else "rolled_back"
    return {"status": status, "events": [_event(one) for one in done]}


FAMILY = (
    archival_memory_insert,
    archival_memory_search,
    archival_memory_list,
    archival_memory_delete,
    search_memory,
    read_memory_history,
    rollback_memory,
)


def _span(during: str, platform: Platform) -> TimeSpan:
    span = span_of(during, round(platform.clock() * 1000), UTC)
    if span is None:
        message = f"{during!r} is no time such as {TIME_EXAMPLES}"
        raise BadArguments([Problem("MCP_ARGUMENT", message, "/during")])
    return span


def _passage(passage: Passage) -> dict[str, Any]:
    return {
        "passage_id": passage.id,
        "content": passage.text,
        "tags": list(passage.tags),
        "source": passage.source,
        "created_at": iso(passage.created_at),
    }


def _found(one: Found) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "ref": one.ref,
        "uri": uri_of(one),
        "agent_id": one.agent_id,
        "label": one.label,
        "text": one.text,
        "score": round(one.score, 4),
        "at": iso(one.at),
        "seq": one.seq,
        "role": one.role,
        "project": one.project,
    }


def _event(event: Event) -> dict[str, Any]:
    return {
        "seq": event.seq,
        "at": iso(event.at),
        "by": f"{event.by.kind}:{event.by.name}",
        "reason": event.by.reason,
        "operation": event.operation,
        "entity": event.entity,
        "entity_id": event.entity_id,
        "agent_id": event.agent_id,
        "label": event.label,
        "change": _cut(event.change),
    }


def _cut(value: Any) -> Any:
    """``value`` with long texts cut."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_TEXT else f"{value[:_LONGEST_TEXT]}…"
    if isinstance(value, Mapping):
        return {name: _cut(part) for name, part in value.items()}
    return [_cut(part) for part in value] if isinstance(value, list | tuple) else value
