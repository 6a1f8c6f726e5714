"""Nine tools of Graphiti's MCP server (getzep/graphiti at 993e081a, August 2026): their names,
parameters and results are its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Annotated, Any

from pydantic import Field

from control_plane import ControlPlaneError
from dcf.knowledge import GRAPH, SOURCES, TEXTS, KnowledgeError, TextEpisode
from dcf.knowledge.asking import (
    UnknownThing,
    clear_group,
    delete_fact,
    delete_text,
    groups_written,
    newest_episodes,
)
from dcf.mcp.arguments import Parameter, Parameters
from dcf.mcp.graph.desk import GraphDesk
from dcf.mcp.graph.names import (
    LONGEST,
    Refused,
    demand_groups,
    demand_id,
    demand_labels,
    groups_of,
    listed,
    moment_of,
)
from dcf.mcp.schema import input_schema

_MOST = 100
_Count = Annotated[int, Field(gt=0, le=_MOST)]
_Names = Annotated[list[str], Field(max_length=_MOST)]
_Id = Annotated[str, Field(max_length=LONGEST)]
_GROUPS = Parameter(
    "group_ids",
    _Names | _Id | None,
    "Only these groups; default: all that are written.",
    None,
    False,
)
_UUID = Parameter("uuid", _Id, "Its UUID.")

Work = Callable[..., Awaitable[dict[str, Any]]]


@dataclass(frozen=True)
class GraphTool:
    """One tool; ``work`` gets the desk and the arguments by name. ``strict``: it refuses arguments
    that it does not know, since what it does cannot be taken back."""

    name: str
    description: str
    work: Work
    takes: tuple[Parameter, ...] = ()
    strict: bool = False

    @cached_property
    def parameters(self) -> Parameters:
        return Parameters(self.takes, strict=self.strict)

    @cached_property
    def schema(self) -> dict[str, Any]:
        return input_schema(self.parameters)


async def add_memory(
    desk: GraphDesk,
    name: str,
    episode_body: str,
    group_id: str | None,
    source: str,
    source_description: str,
    uuid: str | None,
    reference_time: str | None,
) -> dict[str, Any]:
    group = TEXTS if group_id in (None, "", GRAPH) else str(group_id)
    demand_groups([group])
    if not episode_body.strip():
        raise Refused("bad_arguments: episode_body is empty")
    if uuid:
        await demand_id(desk, uuid)
    episode = TextEpisode(
        uuid=uuid or desk.new_id(),
        name=name,
        content=episode_body,
        at=moment_of(reference_time) if reference_time else desk.clock(),
        group=group,
        source=source.lower() if source.lower() in SOURCES else "text",
        source_description=source_description,
        extract=desk.extracts,
    )
    await desk.add(episode)
    waiting = (await desk.lag()).records
    # The name as it is kept: it may have held what must not be repeated.
    kept = episode.redacted(desk.privacy).name
    return {
        "message": f"Episode '{kept}' queued for group '{group}' as {episode.uuid} "
        f"({waiting} waiting)"
    }


async def search_nodes(
    desk: GraphDesk,
    query: str,
    group_ids: list[str] | str | None,
    max_nodes: int,
    entity_types: list[str] | None,
) -> dict[str, Any]:
    labels = [one for one in entity_types or () if one]
    demand_labels(labels)
    groups = groups_of(group_ids)
    async with desk.searching() as search:
        found = await search.nodes(query, groups, limit=max_nodes, labels=labels)
    nodes = [
        {
            "uuid": node.uuid,
            "name": node.name,
            "labels": sorted(node.labels),
            "created_at": node.created_at.isoformat() if node.created_at else None,
            "summary": node.summary,
            "group_id": node.group_id,
            "attributes": {k: v for k, v in node.attributes.items() if "embedding" not in k},
        }
        for node in found
    ]
    return {"message": _found(len(nodes), "nodes"), "nodes": nodes}


async def search_memory_facts(
    desk: GraphDesk,
    query: str,
    group_ids: list[str] | str | None,
    max_facts: int,
    center_node_uuid: str | None,
) -> dict[str, Any]:
    groups = groups_of(group_ids)
    async with desk.searching() as search:
        found = await search.facts(query, groups, limit=max_facts, center=center_node_uuid)
    return {"message": _found(len(found), "facts"), "facts": [_fact(edge) for edge in found]}


async def delete_entity_edge(desk: GraphDesk, uuid: str) -> dict[str, Any]:
    fact = await delete_fact(desk.graph, uuid)
    return {"message": f"Entity edge with UUID {uuid} deleted: {fact}"}


async def delete_episode(desk: GraphDesk, uuid: str) -> dict[str, Any]:
    gone = await delete_text(desk.graph, uuid)
    return {
        "message": f"Episode with UUID {uuid} deleted: '{gone.name}' of group '{gone.group_id}'"
    }


async def get_entity_edge(desk: GraphDesk, uuid: str) -> dict[str, Any]:
    async with desk.searching() as search:
        edge = await search.fact(uuid)
    if edge is None:
        raise UnknownThing(kind="fact", name=uuid)
    return _fact(edge)


async def get_episodes(
    desk: GraphDesk, group_ids: list[str] | str | None, max_episodes: int
) -> dict[str, Any]:
    found = await newest_episodes(desk.graph, groups_of(group_ids), limit=max_episodes)
    return {
        "message": _found(len(found), "episodes"),
        "episodes": [asdict(episode) for episode in found],
    }


async def clear_graph(desk: GraphDesk, group_ids: list[str] | str | None) -> dict[str, Any]:
    named = list(dict.fromkeys(listed(group_ids)))
    there = await groups_written(desk.graph)
    known = ", ".join(f"{name} ({n} nodes)" for name, n in there.items()) or "none"
    if not named:
        raise Refused(f"bad_arguments: name the groups to clear; there are {known}")
    demand_groups(named)
    parts = []
    for name in named:
        gone = await clear_group(desk.graph, name)
        parts.append(f"{name} ({gone.get('Episodic', 0)} episodes, {gone.get('Entity', 0)} nodes)")
    again = "; `dcf graph sync --all` writes again what runs still tell" if GRAPH in named else ""
    return {"message": f"Graph data cleared for group IDs: {', '.join(parts)}{again}"}


async def get_status(desk: GraphDesk) -> dict[str, Any]:
    try:
        await desk.graph.ready()
        lag = await desk.lag()
    except (KnowledgeError, ControlPlaneError) as error:
        return {"status": "error", "message": str(error)}
    return {
        "status": "ok",
        "message": f"the graph at {desk.graph.label} answers; {lag.waiting} entries wait for it",
    }


TOOLS: Mapping[str, GraphTool] = {
    tool.name: tool
    for tool in (
        GraphTool(
            "add_memory",
            "Keep a text in the knowledge graph. It is queued durably and written soon, without "
            "secrets and personal data; then search_nodes finds it.",
            add_memory,
            (
                Parameter("name", str, "What it is called."),
                Parameter(
                    "episode_body", str, "The text; for source json, JSON as text.",
                    aliases=("content",),
                ),
                Parameter("group_id", str | None, f"Its group; default: {TEXTS}.", None, False),
                Parameter("source", str, "text, json or message; else text.", "text", False),
                Parameter("source_description", str, "Where it comes from.", "", False),
                Parameter("uuid", _Id | None, "Its UUID, to write it anew.", None, False),
                Parameter(
                    "reference_time", str | None,
                    "When it happened, as in 2026-11-20T09:30:00Z (UTC without a zone); "
                    "default: now.", None, False,
                ),
            ),
            strict=True,
        ),
        GraphTool(
            "search_nodes",
            "Find entities by words and meaning: skills, versions, task types, workflows, agents, "
            "errors, insights, sessions, patterns, documents.",
            search_nodes,
            (
                Parameter("query", str, "Words, or a question."),
                _GROUPS,
                Parameter("max_nodes", _Count, "At most so many.", 10, False),
                Parameter(
                    "entity_types", _Names | None, "Only these, as in SkillVersion.", None, False
                ),
            ),
        ),
        GraphTool(
            "search_memory_facts",
            "Find facts between entities that hold now, by words and meaning.",
            search_memory_facts,
            (
                Parameter("query", str, "Words, or a question."),
                _GROUPS,
                Parameter("max_facts", _Count, "At most so many.", 10, False),
                Parameter(
                    "center_node_uuid", _Id | None, "The nearer to this entity, the better.",
                    None, False,
                ),
            ),
        ),
        GraphTool("delete_entity_edge", "Delete a fact.", delete_entity_edge, (_UUID,), True),
        GraphTool(
            "delete_episode",
            "Delete a text that was added; what was measured goes only with its group.",
            delete_episode,
            (_UUID,),
            True,
        ),
        GraphTool("get_entity_edge", "Get a fact by its UUID.", get_entity_edge, (_UUID,)),
        GraphTool(
            "get_episodes",
            "List the newest episodes: outcomes of tasks, delegations, ends of runs, texts.",
            get_episodes,
            (_GROUPS, Parameter("max_episodes", _Count, "At most so many.", 10, False)),
        ),
        GraphTool(
            "clear_graph",
            "Delete everything in the groups that are named, and say what went.",
            clear_graph,
            (Parameter("group_ids", _Names | _Id | None, "The groups to clear.", None, False),),
            True,
        ),
        GraphTool("get_status", "Whether the graph answers, and what waits for it.", get_status),
    )
}  # fmt: skip


EARLIER: Mapping[str, str] = {"add_episode": "add_memory", "search_facts": "search_memory_facts"}
"""What tools were called, and still may be: clients are not told of it."""


def _fact(edge: Any) -> dict[str, Any]:
    fields: dict[str, Any] = edge.model_dump(mode="json", exclude={"fact_embedding"})
    fields["attributes"] = {
        name: value for name, value in fields["attributes"].items() if "embedding" not in name
    }
    return fields


def _found(count: int, what: str) -> str:
    return f"{count} {what} retrieved" if count else f"No relevant {what} found"
