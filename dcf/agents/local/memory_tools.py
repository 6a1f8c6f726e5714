"""The tools with which an agent works on its own memory, and writes to other agents. Names and
parameters are those that agents of Letta know."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from dcf.agents.assignment import JSON
from dcf.memory import PAD_BYTES, Actor, Memory, NewPassage, ToolSpec

if TYPE_CHECKING:
    from dcf.agents.reply import Receipt
    from dcf.memory import Block

PAD_TOOL = "scratch_pad_write"
_MOST_FOUND = 50
_RESULT_TOKENS = 60
_CHARACTERS = 2
"""Characters of a token, at least, in most texts."""
_TEXT = {"type": "string"}
_WORDS = {"type": "array", "items": {"type": "string"}}
_COUNT = {"type": "integer", "minimum": 1, "maximum": _MOST_FOUND}

Leave: TypeAlias = "Callable[[str, str, str, str], Awaitable[Receipt]]"
"""Leaves a message: (agent's id or name, text, sender, correlation id)."""


@dataclass(frozen=True, slots=True)
class Desk:
    """At which an agent works in one turn. What a search gives has room in ``tokens``."""

    memory: Memory
    agent_id: str
    turn_id: str
    correlation_id: str
    leave: Leave
    tokens: int

    def fitting(self, wanted: int) -> int:
        """How many of ``wanted`` results there is room for, at least one."""
        return max(min(wanted, self.tokens // _RESULT_TOKENS), 1)

    def by(self, tool: str) -> Actor:
        """Who makes a change with ``tool``."""
        return Actor("agent", self.agent_id, f"{tool} in {self.turn_id}")


async def _append(desk: Desk, label: str, content: str) -> JSON:
    by = desk.by("core_memory_append")
    return _written(await desk.memory.blocks.append(desk.agent_id, label, content, by=by))


async def _replace(desk: Desk, label: str, old_content: str, new_content: str) -> JSON:
    by = desk.by("core_memory_replace")
    blocks = desk.memory.blocks
    return _written(await blocks.replace(desk.agent_id, label, old_content, new_content, by=by))


async def _rethink(desk: Desk, label: str, new_memory: str) -> JSON:
    by = desk.by("memory_rethink")
    return _written(await desk.memory.blocks.write(desk.agent_id, label, new_memory, by=by))


async def _write_pad(desk: Desk, content: str, append: bool = False) -> JSON:
    pads, by = desk.memory.scratch_pads, desk.by(PAD_TOOL)
    room = min(PAD_BYTES, desk.tokens * _CHARACTERS)
    await pads.begin(desk.agent_id, desk.turn_id, by=by, most_bytes=room)
    write = pads.append if append else pads.write
    pad = await write(desk.agent_id, desk.turn_id, content, by=by)
    return {"bytes": pad.bytes, "limit": pad.most_bytes}


async def _insert_passage(desk: Desk, content: str, tags: list[str] | None = None) -> JSON:
    new = NewPassage(content, tags=tuple(tags or ()), source=f"turn {desk.turn_id}")
    by = desk.by("archival_memory_insert")
    (passage,) = await desk.memory.passages.insert(desk.agent_id, new, by=by)
    return {"id": passage.id}


async def _search_passages(
    desk: Desk, query: str, tags: list[str] | None = None, top_k: int = 10
) -> JSON:
    found = await desk.memory.search.find(
        query, agent_ids=[desk.agent_id], kinds=("passage",), k=desk.fitting(top_k), tags=tags or ()
    )
    await desk.memory.passages.count_reads([one.ref for one in found])
    shown = _shown(desk, query, [one.text for one in found])
    return [
        {"id": one.ref, "text": text, "tags": list(one.tags)}
        for one, text in zip(found, shown, strict=True)
    ]


async def _search_messages(
    desk: Desk, query: str, roles: list[str] | None = None, limit: int = 10
) -> JSON:
    found = await desk.memory.search.find(
        query,
        agent_ids=[desk.agent_id],
        kinds=("message",),
        k=desk.fitting(limit),
        roles=roles or (),
    )
    shown = _shown(desk, query, [one.text for one in found])
    return [
        {"seq": one.seq, "role": one.role, "text": text, "at": one.at}
        for one, text in zip(found, shown, strict=True)
    ]


async def _send(desk: Desk, message: str, other_agent_id: str) -> JSON:
    receipt = await desk.leave(other_agent_id, message, desk.agent_id, desk.correlation_id)
    return {
        "message_id": receipt.id,
        "correlation_id": receipt.correlation_id,
        "status": "The message is kept and will be answered; the answer comes as a message.",
    }


def _written(block: Block) -> JSON:
    # Its text stands in the context of the next request.
    done = {"label": block.label, "revision": block.revision, "bytes": len(block.value.encode())}
    return {**done, "warning": block.warning} if block.warning else done


def _shown(desk: Desk, query: str, texts: Sequence[str]) -> list[str]:
    """Of each text as much as has room, around the longest word of the query in it."""
    length = desk.tokens * _CHARACTERS // max(len(texts), 1)
    words = sorted(query.lower().split(), key=len, reverse=True)
    return [_around(text, words, length) for text in texts]


def _around(text: str, words: Sequence[str], length: int) -> str:
    if len(text) <= length:
        return text
    small = text.lower()
    at = next((place for word in words if (place := small.find(word)) >= 0), 0)
    start = min(max(at - length // 4, 0), len(text) - length)
    return f"… {text[start : start + length]} …"


def _object(properties: Mapping[str, JSON], *optional: str) -> dict[str, JSON]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


_LABEL = {"type": "string", "description": "The label of the memory block."}

_TOOLS: tuple[tuple[Callable[..., Awaitable[JSON]], ToolSpec], ...] = (
    (
        _append,
        ToolSpec(
            "core_memory_append",
            "Add a line to a memory block.",
            _object({"label": _LABEL, "content": _TEXT}),
        ),
    ),
    (
        _replace,
        ToolSpec(
            "core_memory_replace",
            "Replace a piece of a memory block. The old text must be there once, to the letter; "
            "an empty new text removes it.",
            _object({"label": _LABEL, "old_content": _TEXT, "new_content": _TEXT}),
        ),
    ),
    (
        _rethink,
        ToolSpec(
            "memory_rethink",
            "Write a memory block anew, all of it.",
            _object({"label": _LABEL, "new_memory": _TEXT}),
        ),
    ),
    (
        _write_pad,
        ToolSpec(
            PAD_TOOL,
            "Write or add to the scratch pad, which stays before you until you have answered.",
            _object({"content": _TEXT, "append": {"type": "boolean"}}, "append"),
        ),
    ),
    (
        _insert_passage,
        ToolSpec(
            "archival_memory_insert",
            "Put a text into the archive, from which it can be searched at any time.",
            _object({"content": _TEXT, "tags": _WORDS}, "tags"),
        ),
    ),
    (
        _search_passages,
        ToolSpec(
            "archival_memory_search",
            "Search the archive by words and meaning; with tags only what has all of them.",
            _object({"query": _TEXT, "tags": _WORDS, "top_k": _COUNT}, "tags", "top_k"),
        ),
    ),
    (
        _search_messages,
        ToolSpec(
            "conversation_search",
            "Search everything that was ever said in this conversation.",
            _object(
                {
                    "query": _TEXT,
                    "roles": {
                        "type": "array",
                        "items": {"enum": ["user", "assistant", "tool"]},
                    },
                    "limit": _COUNT,
                },
                "roles",
                "limit",
            ),
        ),
    ),
    (
        _send,
        ToolSpec(
            "send_message_to_agent_async",
            "Leave a message for another agent and go on. Do not answer a message with this: your "
            "answer goes back by itself.",
            _object(
                {
                    "message": _TEXT,
                    "other_agent_id": {"type": "string", "description": "The id or the name."},
                }
            ),
        ),
    ),
)

OWN_TOOLS: dict[str, ToolSpec] = {spec.name: spec for _, spec in _TOOLS}
"""The tools of an agent of the local runtime."""
MEMORY_TOOLS = {name: spec for name, spec in OWN_TOOLS.items() if name != PAD_TOOL}
"""The tools of an agent of any runtime."""
_FUNCTIONS = {spec.name: function for function, spec in _TOOLS}


async def use_memory(desk: Desk, name: str, arguments: dict[str, JSON]) -> JSON:
    """Call the memory tool ``name`` with arguments that fit its schema. Raises a MemoryProblem."""
    return await _FUNCTIONS[name](desk, **arguments)
