"""Putting a context together under a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dcf.memory.agents.finding import agent_row
from dcf.memory.audit.entity import Row
from dcf.memory.blocks.finding import held_rows
from dcf.memory.context.errors import ContextTooSmall
from dcf.memory.context.rendering import system_text
from dcf.memory.context.turns import Turn, turns_of
from dcf.memory.database import Connection
from dcf.memory.message import Message
from dcf.memory.messages.fields import message_of
from dcf.memory.messages.finding import live_rows
from dcf.memory.messages.pairs import halves
from dcf.memory.messages.pricing import OVERHEAD
from dcf.search import count_tokens

# No piece of a tokenizer is longer: a text of so many characters has at least that many tokens.
_LONGEST_PIECE = 64


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


def assemble(
    connection: Connection,
    agent_id: str,
    *,
    budget: int | None = None,
    system: str | None = None,
    pad: Row | None = None,
) -> Context:
    """The context of an agent: instructions and blocks, then the conversation.

    ``budget`` is in tokens (None: the agent's window), ``system`` the instructions (None: the
    agent's); ``pad`` is the row of a scratch pad, which stands behind the blocks. The newest turn
    comes first to room, then summaries, then the turns before, newest first, until one does not
    fit. Raises UnknownAgent, and ContextTooSmall if instructions, blocks and pad alone take more.
    """
    agent = agent_row(connection, agent_id)
    budget = agent["context_window"] if budget is None else budget
    text = system_text(
        agent["system"] if system is None else system, held_rows(connection, agent_id), pad
    )
    fixed = _fixed_price(text, budget)
    rows = live_rows(connection, agent_id)
    unfinished = halves(rows)
    turns = turns_of([row for row in rows if row["seq"] not in unfinished])
    chosen = _chosen(turns, budget - fixed)
    shown = [turn for number, turn in enumerate(turns) if number in chosen]
    left = [turn for number, turn in enumerate(turns) if number not in chosen]
    return Context(
        system=text,
        messages=tuple(message_of(row) for turn in shown for row in turn.rows),
        tokens=fixed + sum(turn.tokens for turn in shown),
        budget=budget,
        overflow=tuple(seq for turn in left for seq in turn.seqs),
        unfinished=tuple(sorted(unfinished)),
        to_summarise=_span(turns, chosen),
    )


def _fixed_price(text: str, budget: int) -> int:
    least = len(text) // _LONGEST_PIECE
    if least > budget:
        # Counting the tokens of a block of many megabytes takes seconds.
        raise ContextTooSmall(tokens=least, budget=budget, about="more than ")
    tokens = count_tokens(text) + OVERHEAD if text else 0
    if tokens > budget:
        raise ContextTooSmall(tokens=tokens, budget=budget, about="")
    return tokens


def _chosen(turns: Sequence[Turn], room: int) -> set[int]:
    """Numbers of the turns that stand in the context."""
    plain = [number for number, turn in enumerate(turns) if not turn.is_summary][::-1]
    summaries = [number for number, turn in enumerate(turns) if turn.is_summary][::-1]
    chosen: set[int] = set()
    for numbers in (plain[:1], summaries, plain[1:]):
        for number in numbers:
            if turns[number].tokens > room:
                # What is older does not stand there without what came after it.
                break
            chosen.add(number)
            room -= turns[number].tokens
        if numbers is not summaries and len(chosen & set(numbers)) < len(numbers):
            break
    return chosen


def _span(turns: Sequence[Turn], chosen: set[int]) -> tuple[int, int] | None:
    """From the oldest that there is to the newest that does not fit: one summary takes in those
    before it, or in the end there would be nothing but summaries."""
    left = [number for number in range(len(turns)) if number not in chosen]
    if not left:
        return None
    end = left[-1] + 1
    if end == 1 and turns[0].is_summary:
        # A summary of a summary alone may be no shorter.
        end = 2
    spans = [turn.span for turn in turns[:end]]
    return min(first for first, _ in spans), max(last for _, last in spans)
