"""The shapes in which an experiment's memory is asked and answers: those of the system that a tree
search comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from dcf.memory.access import Reading
from dcf.memory.checking import MOMENTS
from dcf.memory.node import NodeEntry
from dcf.memory.search.found import Found

Answer = dict[str, Any]
NodeId = Annotated[str, "The node, by the name that you give it."]
Text = Annotated[str, "What is remembered."]
Metadata = Annotated[Mapping[str, Any] | None, "Facts about it, by name."]
Query = Annotated[
    str, "Words, or a question: its first 10,000 characters. An empty one gives the newest."
]
Ancestors = Annotated[
    Sequence[str], "The nodes that are searched and no others: your ancestors, and yourself."
]
Limit = Annotated[int, "At most so many."]


def entry_answer(one: NodeEntry) -> Answer:
    """An entry of a node."""
    return {
        "entry_id": one.id,
        "kind": one.kind,
        "text": one.text,
        "metadata": dict(one.metadata),
        "ts": one.created_at / 1_000,
    }


def found_answer(found: Found, entry: NodeEntry, called: Mapping[str, str]) -> Answer:
    """An entry that was found; ``called`` are the names of nodes by their ids."""
    return {
        "entry_id": entry.id,
        "node_id": called[entry.node_id],
        "kind": entry.kind,
        "text": entry.text,
        "metadata": dict(entry.metadata),
        "score": found.score,
    }


def reading_answer(one: Reading) -> Answer:
    """A line of the record of reads."""
    return {
        "ts": one.at / 1_000,
        "by": f"{one.by.kind}:{one.by.name}",
        "reason": one.by.reason,
        "operation": one.operation,
        "node": one.node,
        "source": one.source,
        "entries": list(one.entries),
        "count": one.count,
    }


def is_time(given: Any) -> bool:
    """Whether it is a time in seconds since the epoch."""
    return type(given) in (int, float) and 0 <= given * 1_000 < MOMENTS.stop
