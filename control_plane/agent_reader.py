"""Reading the records of agents."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakValueDictionary

from control_plane.agent_document import (
    AgentDocument,
    AgentKeys,
    check_agent_id,
    check_member,
    index_key,
)
from control_plane.backend import Backend
from control_plane.clock import NewToken, new_token
from control_plane.payload import JSON

_HEAD = ("agent_id", "name", "tags", "revision", "created_at", "updated_at", "ctl")


@dataclass(frozen=True, slots=True)
class AgentPage:
    """Some agents in the order in which they were made. ``after`` continues the listing, None at
    its end. Their records are not read."""

    agents: tuple[AgentDocument, ...]
    after: int | None


class AgentReader:
    """What can be asked about agents. With ``cluster`` their keys share a slot."""

    def __init__(
        self, backend: Backend, *, cluster: bool = False, tokens: NewToken = new_token
    ) -> None:
        self.backend = backend
        self.cluster = cluster
        self.new_id = tokens
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def keys(self, agent_id: str) -> AgentKeys:
        """The keys of an agent. Raises BadName for what cannot be an id."""
        return AgentKeys(check_agent_id(agent_id), self.cluster)

    async def get(
        self, agent_id: str, members: Sequence[str] | None = None
    ) -> AgentDocument | None:
        """The record, or only ``members`` of it; None when there is no such agent."""
        key = self.keys(agent_id).document
        if members is None:
            text = await self.backend.command("JSON.GET", key)
            return AgentDocument.parse(json.loads(text)) if text is not None else None
        wanted = {f"$.record.{check_member(member)}": member for member in members}
        heads = {f"$.{name}": name for name in _HEAD}
        text = await self.backend.command("JSON.GET", key, *heads, *wanted)
        if text is None:
            return None
        found: dict[str, list[JSON]] = json.loads(text)
        raw = {name: found[path][0] for path, name in heads.items()}
        raw["record"] = {name: found[path][0] for path, name in wanted.items() if found[path]}
        return AgentDocument.parse(raw)

    async def find(self, name: str) -> str | None:
        """The id of the agent called ``name`` (exactly), or None."""
        found = await self.backend.command("HGET", index_key("names", self.cluster), name)
        return None if found is None else str(found)

    async def page(
        self, *, after: int | None = None, limit: int = 100, tags: Sequence[str] = ()
    ) -> AgentPage:
        """Up to ``limit`` agents that have all of ``tags``, the oldest first."""
        agents: list[AgentDocument] = []
        index = index_key("index", self.cluster)
        while True:
            start = "-inf" if after is None else f"({after}"
            batch = await self.backend.command(
                "ZRANGE", index, start, "+inf", "BYSCORE", "LIMIT", 0, limit, "WITHSCORES"
            )
            found = await self._heads(batch[::2])
            for agent, score in zip(found, batch[1::2], strict=True):
                after = int(float(score))
                if agent is not None and set(tags) <= set(agent.tags):
                    agents.append(agent)
                    if len(agents) == limit:
                        return AgentPage(tuple(agents), after)
            if len(batch) < 2 * limit:
                return AgentPage(tuple(agents), None)

    async def _heads(self, agent_ids: Sequence[str]) -> list[AgentDocument | None]:
        """These agents without their records; None for one that was deleted meanwhile."""
        if not agent_ids:
            return []
        names = [self.keys(agent_id).document for agent_id in agent_ids]
        columns = [await self.backend.command("JSON.MGET", *names, f"$.{name}") for name in _HEAD]
        rows = [
            None if None in row else [json.loads(text) for text in row]
            for row in zip(*columns, strict=True)
        ]
        return [_head(row) if row is not None and all(row) else None for row in rows]

    async def count(self) -> int:
        """How many agents there are."""
        return int(await self.backend.command("ZCARD", index_key("index", self.cluster)))

    async def now_ms(self) -> int:
        """Redis's clock."""
        seconds, micros = await self.backend.command("TIME")
        return int(seconds) * 1000 + int(micros) // 1000


def _head(row: Sequence[Sequence[JSON]]) -> AgentDocument:
    found = {name: values[0] for name, values in zip(_HEAD, row, strict=True)}
    return AgentDocument.parse({**found, "record": {}})
