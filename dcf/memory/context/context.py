"""An assembled context."""

from __future__ import annotations

from dataclasses import dataclass

from dcf.memory.message import Message


@dataclass(frozen=True, slots=True)
class Context:
    """``system`` is the instructions followed by the blocks, ``messages`` what of the conversation
    fits, in order. ``tokens`` is the price of both, never more than ``budget``.

    ``overflow`` are the numbers of messages and summaries that would stand here but do not fit:
    they wait to be summarised. ``unfinished`` are those of messages with a tool call whose return
    is not there, or the other way round, which no model accepts.
    """

    system: str
    messages: tuple[Message, ...]
    tokens: int
    budget: int
    overflow: tuple[int, ...]
    unfinished: tuple[int, ...]
    to_summarise: tuple[int, int] | None
    """The first and last message that one summary should stand for, so that nothing is left over;
    None if all fits."""
