"""Threads and agents to find observations in, and a model that is scripted for it."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Callable, Sequence
from itertools import count

from control_plane import Store
from dcf.memory import (
    SYSTEM,
    Memory,
    NewAgent,
    NewMessage,
    NewThread,
    NewTurn,
    Outline,
    TurnFence,
    TurnRecord,
    Usage,
)
from dcf.memory.extraction import (
    AgentTurns,
    Answer,
    ExtractionQueue,
    Extractor,
    Limits,
    Prompt,
    Spending,
    ThreadTurns,
)
from dcf.worker import EventReader, SessionTurns

PARTS = 2
"""Observations that the scripted model finds in each event."""
_NAME = re.compile(r"turn-[\w-]+")


def answer_of(prompt: Prompt, *titles: str) -> str:
    """An answer in the form that is asked for."""
    found = "".join(
        f'<observation call="{prompt.call}"><type>discovery</type><title>{title}</title>'
        "</observation>"
        for title in titles
    )
    return f'<observations call="{prompt.call}">{found}</observations>'


class ScriptedModel:
    """Finds two observations in each turn that calls itself ``turn-…``, and says it in other words
    each time that it is asked. ``says`` changes what it answers, or raises."""

    identity = "scripted"

    def __init__(
        self, spending: Spending, says: Callable[[Prompt, int], str | None] | None = None
    ) -> None:
        self._spending = spending
        self._says = says or (lambda _prompt, _number: None)
        self._count = count(1)
        self.prompts: list[Prompt] = []

    async def ask(self, prompt: Prompt) -> Answer:
        number = next(self._count)
        self.prompts.append(prompt)
        reserved = await self._spending.reserve("scripted", 1_000, 500)
        said = self._says(prompt, number)
        await asyncio.sleep(0)
        await self._spending.settle(reserved, 100, 50)
        name = _NAME.search(prompt.user)
        # Processes that were forked count alike.
        ask = secrets.token_hex(4)
        titles = [f"{name[0]} ask {ask} part {one}" for one in range(PARTS)] if name else []
        return Answer(answer_of(prompt, *titles) if said is None else said, "scripted:model")


class World:
    """A memory with a queue, a scripted model and what works through it; sessions are in
    ``store``."""

    def __init__(
        self,
        memory: Memory,
        *,
        says: Callable[[Prompt, int], str | None] | None = None,
        limits: Limits | None = None,
        most: int = 1_000,
        lease_ms: int = 60_000,
        store: Store | None = None,
    ) -> None:
        self.memory = memory
        self.store = store
        self.turns = ThreadTurns(memory.ledger)
        self.queue = ExtractionQueue(memory.ledger, most=most, lease_ms=lease_ms)
        self.spending = Spending(memory.ledger, limits or Limits(minute_requests=1_000_000))
        self.model = ScriptedModel(self.spending, says)
        self.slept: list[float] = []
        self.extractor = Extractor(
            memory.ledger,
            self.queue,
            self.model,
            EventReader(memory, store).read,
            sleep=self._sleep,
        )

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        clock = self.memory.ledger.clock
        clock.now += round(seconds * 1000)  # type: ignore[attr-defined]

    async def talk(self, texts: Sequence[str], source_id: str = "t-1") -> None:
        """A thread in which an assistant says these texts, and its turns in the queue."""
        turns = tuple(NewTurn("assistant", text) for text in texts)
        await self.memory.threads.sync(
            NewThread("amp", Outline(source_id, "/shop"), turns), by=SYSTEM
        )
        await self.queue.offer(*await self.turns.new(1_000), by=SYSTEM)

    async def find(self) -> None:
        """The turns of threads, agents and sessions that are new are queued."""
        for turns in (self.turns, AgentTurns(self.memory.ledger)):
            await self.queue.offer(*await turns.new(1_000), by=SYSTEM)
        if self.store is not None:
            async for some in SessionTurns(self.store, "/shop").changed():
                await self.queue.offer(*some, by=SYSTEM)


async def agent_of(memory: Memory, name: str = "ada", *tags: str) -> str:
    """The id of an agent."""
    return (await memory.agents.create(NewAgent(name, tags=tags), by=SYSTEM)).id


async def converse(
    memory: Memory,
    agent_id: str,
    asked: str,
    answer: str | None = "done",
    *steps: NewMessage,
    fence: TurnFence | None = None,
    used: Usage | None = None,
) -> TurnRecord:
    """A turn of the agent, with these messages between its question and its answer; without an
    answer it fails."""
    begun = await memory.turns.begin(agent_id, NewMessage("user", asked), by=SYSTEM, fence=fence)
    if steps:
        await memory.messages.append(agent_id, *steps, by=SYSTEM)
    how = {"by": SYSTEM, "model": "scripted", "usage": used or Usage()}
    if answer is None:
        return await memory.turns.fail(begun, "DCF.Refused", "no more", **how)
    return (await memory.turns.answer(begun, NewMessage("assistant", answer), **how))[0]


def called(
    tool: str, arguments: object, output: object, *, failed: bool = False
) -> list[NewMessage]:
    """An agent calls a tool, and is told what it put out."""
    call = {"kind": "call", "id": "c-1", "tool": tool, "arguments": arguments}
    told = {"kind": "return", "id": "c-1", "tool": tool, "content": output, "is_error": failed}
    return [NewMessage("assistant", "", [call]), NewMessage("tool", "", [told])]


def turn(number: int) -> str:
    """What is said in a turn that is worth a request."""
    return f"This is turn-{number:04}. It says a bit more than a turn must have to be asked about."


async def titles_by_turn(memory: Memory) -> dict[str, list[str]]:
    """What was found, by the name of the turn."""
    found: dict[str, list[str]] = {}
    for one in await memory.observations.list(limit=100_000):
        assert one.times == 1, one.title
        found.setdefault(one.title.split()[0], []).append(one.title)
    return found


def is_whole(titles: Sequence[str]) -> bool:
    """Whether these are all that one single answer found."""
    asks = {title.split()[2] for title in titles}
    return len(asks) == 1 and len(titles) == PARTS
