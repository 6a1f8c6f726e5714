"""What an agent that does a task writes down for its branch, and finds there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

from dcf.agents.assignment import JSON
from dcf.agents.local.calling import Answered, answer_call
from dcf.memory import ToolSpec

if TYPE_CHECKING:
    from dcf.memory import Actor, Found, NodeEntry

_INSERT, _SEARCH = "archival_memory_insert", "archival_memory_search"
_PROMOTE = "memory_promote"
_FOUND = 10
_MOST_FOUND = 50
_TEXT = {"type": "string", "minLength": 1}


class Notes(Protocol):
    """The memory of one task. Its methods raise a MemoryProblem."""

    def signed(self, by: Actor) -> Notes:
        """The same, written to by somebody else."""
        ...

    async def write(self, text: str) -> NodeEntry:
        """Keep a text."""
        ...

    async def search(self, query: str, k: int) -> Sequence[Found]:
        """The ``k`` texts closest to ``query``, the closest first."""
        ...

    async def promote(self, entry_id: str) -> NodeEntry:
        """What the branch above has of a text of this one, whose other branches read it then."""
        ...


NOTE_TOOLS: dict[str, ToolSpec] = {
    _INSERT: ToolSpec(
        _INSERT,
        "Write down what was found, for whoever goes on with this branch of the work.",
        {
            "type": "object",
            "properties": {"content": _TEXT},
            "required": ["content"],
            "additionalProperties": False,
        },
    ),
    _SEARCH: ToolSpec(
        _SEARCH,
        "Search what this branch of the work, and what it comes from, wrote down.",
        {
            "type": "object",
            "properties": {
                "query": _TEXT,
                "top_k": {"type": "integer", "minimum": 1, "maximum": _MOST_FOUND},
            },
            "required": ["query"],
            "additionalProperties": False,
        },
    ),
    _PROMOTE: ToolSpec(
        _PROMOTE,
        "Pass a text on that this branch of the work wrote down, so that the branches beside it "
        "find it too. Only for what holds for them as well.",
        {
            "type": "object",
            "properties": {"id": _TEXT},
            "required": ["id"],
            "additionalProperties": False,
        },
    ),
}
"""By their names: of the first two agents know them, of their own archives in conversations."""


async def answer_notes(notes: Notes, name: str, arguments: dict[str, JSON]) -> Answered:
    """Call one of NOTE_TOOLS; what does not fit, and what the memory refuses, is an error in the
    answer."""
    return await answer_call(NOTE_TOOLS, name, arguments, partial(use_notes, notes))


async def use_notes(notes: Notes, name: str, arguments: dict[str, JSON]) -> JSON:
    """Call one of NOTE_TOOLS with arguments that fit its schema. Raises a MemoryProblem."""
    if name == _INSERT:
        return {"id": (await notes.write(arguments["content"])).id}
    if name == _PROMOTE:
        return {"id": (await notes.promote(arguments["id"])).id}
    found = await notes.search(arguments["query"], arguments.get("top_k", _FOUND))
    return [{"id": one.ref, "text": one.text} for one in found]
