"""Messages that wait for agents, kept on the server: each is a hidden block that no agent holds.

Whoever takes a letter writes its own mark into it. The server compares nothing when it writes, so
two processes may take one letter within the same few milliseconds: then it is delivered twice, as
"at least once" allows, and the one whose mark is left answers it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from dcf.agents.letta.connection import NotThere
from dcf.memory import CircularMessage, Letter, LetterLost, NewLetter, UnknownLetter
from dcf.memory.rules import check_letter

if TYPE_CHECKING:
    from letta_client.types import BlockResponse

    from dcf.agents.letta.roster import Roster
    from dcf.memory import Actor, NewId

_LABEL = "dcf_letter"
_KEPT = "dcf_letter"
_OPEN = "dcf:letter:open"
_LIMIT = 100_000_000
_PAGE = 200
_MOST_TRIES = 3


class ServerLetters:
    """The letters to the agents of ``roster``. Methods as of ``dcf.memory.Letters``."""

    def __init__(self, roster: Roster, new_id: NewId) -> None:
        self._roster = roster
        self._connection = roster.connection
        self._new_id = new_id
        self._marks: dict[str, str] = {}

    async def leave(self, new: NewLetter, *, by: Actor) -> Letter:
        """Put a letter into an inbox. Raises InvalidEntry, UnknownAgent, CircularMessage."""
        check_letter(new)
        await self._roster.state(new.agent_id)
        async with self._roster.lock("letters"):
            await self._refuse_circle(new)
            now = self._roster.clock()
            letter = Letter(
                id="",
                agent_id=new.agent_id,
                sender=new.sender,
                text=new.text,
                correlation_id=new.correlation_id,
                state="waiting",
                deadline=now + new.timeout_ms,
                tries=0,
                taken_until=None,
                reply=None,
                error=None,
                cause=None,
                created_at=now,
                updated_at=now,
            )
            client = await self._connection.client()
            with self._connection.asking():
                made = await client.blocks.create(
                    label=_LABEL,
                    value=new.text,
                    hidden=True,
                    limit=_LIMIT,
                    metadata=_metadata(letter, None),
                    tags=_tags(letter),
                )
        return replace(letter, id=made.id)

    async def get(self, letter_id: str) -> Letter:
        """The letter with this id. Raises UnknownLetter."""
        return (await self._read(letter_id))[0]

    async def take(self, *, by: Actor, lease_ms: int) -> Letter | None:
        """The oldest letter that can be delivered now, for ``lease_ms``."""
        async with self._roster.lock("letters"):
            now = self._roster.clock()
            waiting, busy = [], set()
            for letter in [letter_of(state) for state in await self._tagged(_OPEN)]:
                taken = letter.state == "taken" and (letter.taken_until or 0) > now
                if taken:
                    busy.add(letter.agent_id)
                elif letter.deadline <= now:
                    await self._write(replace(letter, state="expired", taken_until=None), None)
                elif letter.tries >= _MOST_TRIES:
                    cause = f"whoever worked on it went away, {letter.tries} times"
                    await self._write(_failed(letter, "DCF.Undelivered", cause), None)
                else:
                    waiting.append(letter)
            free = [letter for letter in waiting if letter.agent_id not in busy]
            if not free:
                return None
            first = min(free, key=lambda letter: (letter.created_at, letter.id))
            taken_until = now + lease_ms
            mine = replace(first, state="taken", tries=first.tries + 1, taken_until=taken_until)
            mark = self._marks[first.id] = self._new_id("mark")
            return await self._write(mine, mark)

    async def keep(self, letter: Letter, *, by: Actor, lease_ms: int) -> None:
        """Have a letter that was taken longer. Raises LetterLost, UnknownLetter."""
        now = await self._mine(letter)
        until = self._roster.clock() + lease_ms
        await self._write(replace(now, taken_until=until), self._marks[letter.id])

    async def answer(self, letter: Letter, reply: dict[str, Any], *, by: Actor) -> None:
        """The letter is answered. Raises LetterLost, UnknownLetter."""
        now = await self._mine(letter)
        await self._write(replace(now, state="answered", taken_until=None, reply=reply), None)

    async def fail(self, letter: Letter, error: str, cause: str, *, by: Actor) -> None:
        """There will be no answer. Raises LetterLost, UnknownLetter."""
        await self._write(_failed(await self._mine(letter), error, cause), None)

    async def give_back(self, letter: Letter, *, by: Actor) -> None:
        """Let somebody else take the letter. Raises LetterLost, UnknownLetter."""
        now = await self._mine(letter)
        tries = now.tries - 1
        await self._write(replace(now, state="waiting", taken_until=None, tries=tries), None)

    async def answers_for(self, agent_id: str) -> tuple[Letter, ...]:
        """Letters of the agent that were answered, and it was not told yet."""
        return tuple(letter_of(state) for state in await self._tagged(_answered(agent_id)))

    async def told(self, letter: Letter) -> None:
        """The sender knows the answer."""
        client = await self._connection.client()
        with self._connection.asking():
            await client.blocks.update(letter.id, tags=[_to(letter.agent_id)])

    async def forget(self, agent_id: str) -> None:
        """Remove the letters to an agent that is gone."""
        client = await self._connection.client()
        for state in await self._tagged(_to(agent_id)):
            with self._connection.asking():
                await client.blocks.delete(state.id)

    async def _refuse_circle(self, new: NewLetter) -> None:
        open_ = [letter_of(state) for state in await self._tagged(_OPEN)]
        about = [one for one in open_ if one.correlation_id == new.correlation_id]
        chains, seen = deque([[new.sender]]), {new.sender}
        while chains:
            chain = chains.popleft()
            if chain[0] == new.agent_id:
                raise CircularMessage([*chain, new.agent_id])
            asking = dict.fromkeys(one.sender for one in about if one.agent_id == chain[0])
            chains += [[one, *chain] for one in asking if one not in seen]
            seen.update(asking)

    async def _mine(self, letter: Letter) -> Letter:
        now, mark = await self._read(letter.id)
        if now.state != "taken" or mark is None or mark != self._marks.get(letter.id):
            raise LetterLost(letter_id=letter.id, tries=now.tries)
        return now

    async def _read(self, letter_id: str) -> tuple[Letter, str | None]:
        reader = await self._connection.reader()
        try:
            with self._connection.asking():
                state = await reader.blocks.retrieve(letter_id)
        except NotThere as gone:
            raise UnknownLetter(letter_id=letter_id) from gone
        kept: Any = (state.metadata or {}).get(_KEPT)
        if kept is None:
            raise UnknownLetter(letter_id=letter_id)
        return letter_of(state), kept.get("mark")

    async def _write(self, letter: Letter, mark: str | None) -> Letter:
        letter = replace(letter, updated_at=self._roster.clock())
        if mark is None:
            self._marks.pop(letter.id, None)
        client = await self._connection.client()
        with self._connection.asking():
            await client.blocks.update(
                letter.id, metadata=_metadata(letter, mark), tags=_tags(letter)
            )
        return letter

    async def _tagged(self, tag: str) -> list[BlockResponse]:
        reader = await self._connection.reader()
        with self._connection.asking():
            pages = reader.blocks.list(
                tags=[tag], limit=_PAGE, order="asc", extra_query={"show_hidden_blocks": True}
            )
            return [state async for state in pages]


def letter_of(state: BlockResponse) -> Letter:
    """The letter that a block is."""
    kept: Any = dict((state.metadata or {})[_KEPT])  # type: ignore[call-overload]
    del kept["mark"]
    return Letter(id=state.id, text=state.value, **kept)


def _metadata(letter: Letter, mark: str | None) -> dict[str, Any]:
    members = asdict(letter)
    del members["id"], members["text"]
    return {_KEPT: {**members, "mark": mark}}


def _tags(letter: Letter) -> list[str]:
    tags = [_to(letter.agent_id)]
    if not letter.is_over:
        tags.append(_OPEN)
    if letter.state == "answered" and letter.sender.startswith("agent-"):
        tags.append(_answered(letter.sender))
    return tags


def _to(agent_id: str) -> str:
    return f"dcf:letter:to:{agent_id}"


def _answered(sender: str) -> str:
    return f"dcf:letter:answered:{sender}"


def _failed(letter: Letter, error: str, cause: str) -> Letter:
    return replace(letter, state="failed", taken_until=None, error=error, cause=cause)
