"""The memory tools of an agent on a Letta server, called here: its limits and read-only blocks hold
for what its model writes too."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcf.agents.assignment import JSON
from dcf.memory import Actor, NewPassage
from dcf.memory.rules import appended, replaced

if TYPE_CHECKING:
    from dcf.agents.letta.conversations import Conversations
    from dcf.agents.local.memory_tools import Leave
    from dcf.memory import Block


@dataclass(frozen=True, slots=True)
class ServerDesk:
    """At which an agent of ``runtime`` works in one turn. Arguments fit MEMORY_TOOLS already."""

    runtime: Conversations
    agent_id: str
    correlation_id: str
    leave: Leave

    async def use(self, name: str, arguments: dict[str, JSON]) -> JSON:
        """Call the memory tool ``name``. Raises a MemoryProblem."""
        return await _TOOLS[name](self, **arguments)

    def by(self) -> Actor:
        """Who changes something here."""
        return Actor("agent", self.agent_id)


async def _append(desk: ServerDesk, label: str, content: str) -> JSON:
    return _written(
        await desk.runtime.rewrite_block(desk.agent_id, label, lambda old: appended(old, content))
    )


async def _replace(desk: ServerDesk, label: str, old_content: str, new_content: str) -> JSON:
    return _written(
        await desk.runtime.rewrite_block(
            desk.agent_id, label, lambda old: replaced(label, old, old_content, new_content)
        )
    )


async def _rethink(desk: ServerDesk, label: str, new_memory: str) -> JSON:
    return _written(await desk.runtime.write_block(desk.agent_id, label, new_memory, by=desk.by()))


async def _insert_passage(desk: ServerDesk, content: str, tags: list[str] | None = None) -> JSON:
    new = NewPassage(content, tags=tuple(tags or ()))
    return {"id": (await desk.runtime.insert_passage(desk.agent_id, new, by=desk.by())).id}


async def _search_passages(
    desk: ServerDesk, query: str, tags: list[str] | None = None, top_k: int = 10
) -> JSON:
    wanted = set(tags or ())
    # Tags are looked at afterwards: some of what is found may not have them.
    k = top_k if not wanted else top_k * 5
    found = await desk.runtime.search_passages(desk.agent_id, query, k)
    return [
        {"id": one.id, "text": one.text, "tags": list(one.tags)}
        for one in found
        if wanted <= set(one.tags)
    ][:top_k]


async def _search_messages(
    desk: ServerDesk, query: str, roles: list[str] | None = None, limit: int = 10
) -> JSON:
    words = set(query.lower().split())
    shared = {}
    messages = await desk.runtime.all_messages(desk.agent_id)
    for one in messages:
        if one.role in (roles or ("user", "assistant", "tool", "summary")):
            shared[one.seq] = sum(word in one.content.lower() for word in words)
    best = sorted((one for one in messages if shared.get(one.seq)), key=lambda m: -shared[m.seq])
    return [
        {"seq": one.seq, "role": one.role, "text": one.content, "at": one.created_at}
        for one in best[:limit]
    ]


async def _send(desk: ServerDesk, message: str, other_agent_id: str) -> JSON:
    receipt = await desk.leave(other_agent_id, message, desk.agent_id, desk.correlation_id)
    return {
        "message_id": receipt.id,
        "correlation_id": receipt.correlation_id,
        "status": "The message is kept and will be answered; the answer comes with a later one.",
    }


def _written(block: Block) -> JSON:
    # The model sees the text itself only in the next turn's prompt.
    done = {"label": block.label, "value": block.value, "bytes": len(block.value.encode())}
    return {**done, "warning": block.warning} if block.warning else done


_TOOLS: Mapping[str, Callable[..., Awaitable[JSON]]] = {
    "core_memory_append": _append,
    "core_memory_replace": _replace,
    "memory_rethink": _rethink,
    "archival_memory_insert": _insert_passage,
    "archival_memory_search": _search_passages,
    "conversation_search": _search_messages,
    "send_message_to_agent_async": _send,
}
