"""What is done when a conversation outgrows its agent's window: its oldest part is summarised.

The messages stay where they are, and search finds them; the summary says which they are.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from dcf.agents.task_error import TaskError
from dcf.memory import SYSTEM, ContextTooSmall, NewMessage

if TYPE_CHECKING:
    from dcf.memory import Agent, Context, Memory, Message

CONTEXT_OVERFLOW = "DCF.ContextOverflow"
Summarise = Callable[[Sequence["Message"], int], Awaitable[str]]
"""What is to be kept of messages, in at most so many tokens."""

_SMALLEST = 32
_WHOLE = 1 << 40
_LARGEST = 2000


async def fitted(
    memory: Memory,
    agent: Agent,
    orders: str,
    room: int,
    question: int,
    summarise: Summarise,
    *,
    task: str | None = None,
) -> Context:
    """The agent's context in ``room`` tokens, with summaries made where it is too long.

    ``question`` is the number of the message being answered, which is never summarised; ``task`` is
    what the agent may have a scratch pad for. Raises
    TaskError(DCF.ContextOverflow) where nothing is left to summarise.
    """
    while True:
        try:
            context = await memory.contexts.assemble(
                agent.id, budget=room, system=orders, task=task
            )
        except ContextTooSmall as problem:
            raise TaskError(CONTEXT_OVERFLOW, f"{problem}; {problem.hint}") from problem
        if not context.overflow:
            return context
        whole = await memory.contexts.assemble(agent.id, budget=_WHOLE, system=orders, task=task)
        left = room - (whole.tokens - taken_by(whole.messages))
        span = _span(whole.messages, left // 2, question)
        if not span or left < _SMALLEST:
            raise TaskError(CONTEXT_OVERFLOW, _cause(agent, left, whole))
        text = await summarise(span, min(left // 4, _LARGEST))
        summary = NewMessage("summary", text, replaces=(_first(span[0]), _last(span[-1])))
        by = SYSTEM.because(f"its window of {agent.context_window} tokens was full")
        (made,) = await memory.messages.append(agent.id, summary, by=by)
        if made.tokens >= taken_by(span):
            raise TaskError(CONTEXT_OVERFLOW, _cause(agent, left, whole))


def _span(live: Sequence[Message], kept: int, question: int) -> Sequence[Message]:
    """The oldest messages without which at most ``kept`` tokens are left: of those before the
    question, else of what its turn has done, all but the last step."""
    before = [message for message in live if _last(message) < question]
    own = [message for message in live if _first(message) > question]
    rest = taken_by(live) - taken_by(before)
    span = _oldest(_steps(before), taken_by(before) - max(kept - rest, 0))
    if len(span) > 1 or (span and span[0].role != "summary"):
        return span
    return _oldest(_steps(own)[:-1], taken_by(own) - kept)


def _oldest(steps: Sequence[Sequence[Message]], tokens: int) -> list[Message]:
    """Whole steps, until they come to ``tokens``."""
    sums = accumulate(taken_by(step) for step in steps)
    needed = next((count for count, total in enumerate(sums, 1) if total >= tokens), len(steps))
    return [message for step in steps[:needed] for message in step]


def _steps(messages: Sequence[Message]) -> list[list[Message]]:
    """Messages in pieces that must not be torn: a call with all up to its return."""
    returned = {
        part["id"]: message.seq
        for message in messages
        for part in message.parts
        if part["kind"] == "return"
    }
    steps: list[list[Message]] = []
    until = 0
    for message in messages:
        if not steps or message.seq > until:
            steps.append([])
        steps[-1].append(message)
        calls = [part["id"] for part in message.parts if part["kind"] == "call"]
        until = max([until, *(returned.get(call, 0) for call in calls)])
    return steps


def _first(message: Message) -> int:
    return message.replaces[0] if message.replaces else message.seq


def _last(message: Message) -> int:
    return message.replaces[1] if message.replaces else message.seq


def taken_by(messages: Sequence[Message]) -> int:
    """What ``messages`` take, in tokens."""
    return sum(message.tokens for message in messages)


def _cause(agent: Agent, left: int, context: Context) -> str:
    return (
        f"the window of {agent.context_window} tokens has {max(left, 0)} for messages beside "
        "orders, memory blocks, tools and the answer; what cannot be summarised takes more (the "
        f"conversation has {taken_by(context.messages)})"
    )
