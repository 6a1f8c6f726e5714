"""How much the memory holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KindStats:
    """Rows of one table, and the bytes of text and data in them."""

    kind: str
    count: int
    bytes: int


@dataclass(frozen=True, slots=True)
class AgentStats:
    """What one agent has, in bytes of text: its blocks (shared ones with each of their holders),
    its messages (``archived`` of them stand in no context) and its passages."""

    agent_id: str
    name: str
    blocks: int
    block_bytes: int
    messages: int
    archived: int
    message_bytes: int
    passages: int
    passage_bytes: int
    events: int

    @property
    def bytes(self) -> int:
        """In all."""
        return self.block_bytes + self.message_bytes + self.passage_bytes


@dataclass(frozen=True, slots=True)
class BlockStats:
    """A block: how large it is, how large it may be, and how many agents hold it themselves."""

    block_id: str
    label: str
    bytes: int
    hard_limit: int | None
    holders: int


@dataclass(frozen=True, slots=True)
class Stats:
    """The whole memory. ``free_bytes`` of the file are unused, ``wal_bytes`` are beside it and not
    yet in it. ``agents`` are those with most bytes, ``largest_blocks`` the largest, both largest
    first. ``border`` is the newest event that was given up, ``last_event`` the newest there is;
    0 is none."""

    version: int
    file_bytes: int
    wal_bytes: int
    free_bytes: int
    kinds: tuple[KindStats, ...]
    agents: tuple[AgentStats, ...]
    largest_blocks: tuple[BlockStats, ...]
    border: int
    last_event: int
