"""What is in the memory, as ``--json`` has it. Times are ms since the epoch, UTC."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from dcf.memory import Agent, Block, Event, Found, Message, Passage


def agent_entry(agent: Agent) -> dict[str, Any]:
    """An agent's settings; not ``extra``, which is of the file that it came from."""
    entry = asdict(agent)
    del entry["extra"]
    return {**entry, "tags": list(agent.tags)}


def block_entry(block: Block, *, shared_with: int = 0) -> dict[str, Any]:
    """A block with its size in bytes and how many other agents hold it."""
    return {**asdict(block), "bytes": len(block.value.encode()), "shared_with": shared_with}


def message_entry(message: Message) -> dict[str, Any]:
    """A message."""
    replaces = list(message.replaces) if message.replaces else None
    return {**asdict(message), "parts": list(message.parts), "replaces": replaces}


def passage_entry(passage: Passage) -> dict[str, Any]:
    """A passage of the archive."""
    return {**asdict(passage), "tags": list(passage.tags)}


def event_entry(event: Event) -> dict[str, Any]:
    """A change: who, why, of what, and ``change``, which says what it was before and after."""
    return {**asdict(event), "change": dict(event.change)}


def found_entry(found: Found) -> dict[str, Any]:
    """A text that was found, with what its score is made of."""
    return {**asdict(found), "tags": list(found.tags)}
