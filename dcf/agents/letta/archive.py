"""The archives of agents on a Letta server."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from dcf.agents.letta.connection import NotThere
from dcf.agents.letta.held_blocks import HeldBlocks
from dcf.memory import Actor, NewPassage, Passage, UnknownPassage
from dcf.memory.rules import check_passage

if TYPE_CHECKING:
    from letta_client.types import Passage as PassageState

_PAGE = 200
_MOST = 2_000
"""Passages that are read for a search by words."""
_SALIENCE, _SOURCE = "dcf-salience:", "dcf-source:"
"""Tags for what a passage of the server has no member for."""


class Archive(HeldBlocks):
    """The agents of a server with blocks and archives. What its methods do, AgentRuntime says.

    Passages are found by meaning where the agent has an embedding model, else by their words.
    """

    async def insert_passage(self, agent_id: str, new: NewPassage, *, by: Actor) -> Passage:
        check_passage(new)
        await self.state(agent_id)
        return await self.put_passage(agent_id, new)

    async def put_passage(self, agent_id: str, new: NewPassage) -> Passage:
        """The same for a passage that is right and an agent that there is."""
        client = await self.connection.client()
        with self.connection.asking():
            (made,) = await client.agents.passages.create(agent_id, text=new.text, tags=_tags(new))
        return passage_of(agent_id, made)

    async def passages(self, agent_id: str, limit: int = 100) -> tuple[Passage, ...]:
        await self.state(agent_id)
        reader = await self.connection.reader()
        listed: list[PassageState] = []
        while len(listed) < limit:
            with self.connection.asking():
                page = await reader.agents.passages.list(
                    agent_id,
                    limit=min(_PAGE, limit - len(listed)),
                    ascending=True,
                    after=str(listed[-1].id) if listed else None,
                )
            listed += page
            if len(page) < _PAGE:
                break
        return tuple(passage_of(agent_id, one) for one in listed)

    async def search_passages(self, agent_id: str, query: str, k: int = 10) -> tuple[Passage, ...]:
        state = await self.state(agent_id)
        if not query.strip():
            return ()
        if state.embedding_config is None:
            return _by_words(await self.passages(agent_id, _MOST), query, k)
        reader = await self.connection.reader()
        with self.connection.asking():
            found = await reader.agents.passages.search(agent_id, query=query, top_k=k)
        return tuple(
            _passage(agent_id, one.id, one.content, one.tags or [], _ms(one.timestamp))
            for one in found.results
        )

    async def delete_passage(self, agent_id: str, passage_id: str, *, by: Actor) -> None:
        await self.state(agent_id)
        client = await self.connection.client()
        try:
            with self.connection.asking():
                await client.agents.passages.delete(passage_id, agent_id=agent_id)
        except NotThere as gone:
            raise UnknownPassage(passage_id=passage_id) from gone


def passage_of(agent_id: str, state: PassageState) -> Passage:
    """The passage as it is on the server."""
    at = 0 if state.created_at is None else int(state.created_at.timestamp() * 1000)
    return _passage(agent_id, str(state.id), state.text, state.tags or [], at)


def _passage(agent_id: str, passage_id: str, text: str, tags: list[str], at: int) -> Passage:
    salience, source, own = 0.5, "", []
    for tag in tags:
        if tag.startswith(_SALIENCE):
            salience = float(tag.removeprefix(_SALIENCE))
        elif tag.startswith(_SOURCE):
            source = tag.removeprefix(_SOURCE)
        else:
            own.append(tag)
    return Passage(
        id=passage_id,
        agent_id=agent_id,
        text=text,
        tags=tuple(sorted(own)),
        salience=salience,
        source=source,
        reads=0,
        read_at=None,
        created_at=at,
    )


def _tags(new: NewPassage) -> list[str]:
    tags = sorted(set(new.tags))
    if new.salience != NewPassage("").salience:
        tags.append(f"{_SALIENCE}{float(new.salience)}")
    return [*tags, f"{_SOURCE}{new.source}"] if new.source else tags


def _by_words(passages: tuple[Passage, ...], query: str, k: int) -> tuple[Passage, ...]:
    """Those that have words of ``query``, those with most of them first."""
    words = set(query.lower().split())
    shared = {one.id: sum(word in one.text.lower() for word in words) for one in passages}
    found = [one for one in passages if shared[one.id]]
    return tuple(sorted(found, key=lambda one: -shared[one.id])[:k])


def _ms(at: str) -> int:
    try:
        return int(datetime.fromisoformat(at).timestamp() * 1000)
    except ValueError:
        return 0
