"""Records of agents: documents with a revision, changed by compare-and-set, with a history each.

What a record holds is not known here. An agent has an id and a name of its own; names are found in
one hash, all agents in one sorted set, so that nothing ever has to scan.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from control_plane import payload, script
from control_plane.agent_document import (
    AgentChange,
    AgentDocument,
    check_agent_name,
    check_member,
    index_key,
    new_document,
)
from control_plane.agent_reader import AgentReader
from control_plane.errors import (
    AgentBusy,
    AgentExists,
    BadDocument,
    NameTaken,
    ServerError,
    UnknownAgent,
)
from control_plane.keys import APPROVALS
from control_plane.payload import JSON

HISTORY_KEPT_MS = 7 * 24 * 3600 * 1000
"""How long the history of a deleted agent stays, in ms."""

_ATTEMPTS = 200


@dataclass(frozen=True, slots=True)
class AgentConflict:
    """A change did not happen: the record has this ``revision`` by now, not the one expected."""

    revision: int


class AgentStore(AgentReader):
    """The records of agents on a backend.

    Every change carries an id; the same id again (``call``; a client that did not hear the answer
    sends twice) gets the first answer and changes nothing.
    """

    async def create(
        self,
        agent_id: str,
        name: str,
        *,
        tags: Sequence[str] = (),
        record: Mapping[str, JSON] | None = None,
        call: str | None = None,
    ) -> AgentDocument:
        """A new agent. What was kept of a deleted one with this id is in its record, whatever
        ``record`` says. Raises AgentExists, NameTaken, BadName, BadDocument."""
        call = call or self.new_id()
        request = {"id": agent_id, "name": check_agent_name(name), "call": call}
        text = new_document(agent_id, name, tags, record or {})
        event = payload.to_text({"type": "AgentCreated", "name": name, "tags": list(tags)})
        keys = self.keys(agent_id)
        more = [keys.gone(call), keys.kept]
        code, *rest = await self._run("agent_create", agent_id, request, [text, event], more)
        if code == "exists":
            raise AgentExists(agent=agent_id)
        if code != "ok":
            raise _error(code, rest, agent_id, name)
        revision, at, kept = int(rest[0]), int(rest[1]), rest[2]
        members = {**(record or {}), **_kept(kept)}
        return AgentDocument(agent_id, name, tuple(tags), revision, call, at, at, members)

    async def change(
        self, document: AgentDocument, change: AgentChange, *, call: str | None = None
    ) -> AgentDocument | AgentConflict:
        """Write ``change`` if the record is still at the revision of ``document``; what it is then.

        Raises UnknownAgent (also when another agent has the id by now), NameTaken, BadDocument.
        """
        code, *rest = await self._change(document, change, document.revision, call)
        if code == "conflict":
            return AgentConflict(int(rest[0]))
        if code != "ok":
            raise _error(code, rest, document.agent_id, change.name or "")
        return replace(
            document,
            revision=int(rest[0]),
            name=document.name if change.name is None else change.name,
            tags=document.tags if change.tags is None else tuple(change.tags),
            record={**document.record, **change.members},
        )

    async def note(self, document: AgentDocument, events: Sequence[Mapping[str, JSON]]) -> None:
        """Append events to the history, whatever the revision is by now. Raises UnknownAgent."""
        code, *rest = await self._change(document, AgentChange(events), None, None)
        if code != "ok":
            raise _error(code, rest, document.agent_id, "")

    async def update(
        self,
        agent_id: str,
        plan: Callable[[AgentDocument], AgentChange | None],
        members: Sequence[str] | None = None,
        *,
        incarnation: str | None = None,
    ) -> AgentDocument:
        """Read, plan, write, and again from the start when somebody else was faster.

        ``plan`` may be called several times and must not do anything but plan; with None nothing is
        written. ``members`` are those it reads. The record as it is then. Raises UnknownAgent (also
        when the agent that ``incarnation`` tells was deleted and its id given to another), and what
        ``change`` raises; AgentBusy after 200 attempts.
        """
        # Users of this store take turns: only those of other processes have to be outrun.
        turns = self._turns.setdefault(agent_id, asyncio.Lock())
        async with turns:
            for _ in range(_ATTEMPTS):
                document = await self.get(agent_id, members)
                if document is None or document.incarnation != (
                    incarnation or document.incarnation
                ):
                    raise UnknownAgent(agent=agent_id)
                incarnation = document.incarnation
                change = plan(document)
                if change is None:
                    return document
                written = await self.change(document, change)
                if isinstance(written, AgentDocument):
                    return written
        raise AgentBusy(agent=agent_id, attempts=_ATTEMPTS)

    async def delete(
        self,
        document: AgentDocument,
        *,
        by: str = "",
        settled: Sequence[str] = (),
        keep: Sequence[str] = (),
        call: str | None = None,
        history_kept_ms: int = HISTORY_KEPT_MS,
    ) -> None:
        """Delete the agent, whatever its revision is by now; its history stays for a week, and the
        members ``keep`` of its record for good: who is made under its id begins with them.

        Raises UnknownAgent when it was deleted before."""
        call = call or self.new_id()
        keys = self.keys(document.agent_id)
        request = {
            "id": document.agent_id,
            "incarnation": document.incarnation,
            "call": call,
            "keep_ms": history_kept_ms,
            "settled": list(settled),
            "keep": [check_member(member) for member in keep],
        }
        event = payload.to_text({"type": "AgentDeleted", "by": by})
        more = [keys.gone(call), keys.gone(document.incarnation), keys.kept]
        code, *rest = await self._run("agent_delete", document.agent_id, request, [event], more)
        if code != "ok":
            raise _error(code, rest, document.agent_id, "")
        await self._hint(AgentChange(settled=settled))

    async def _change(
        self, document: AgentDocument, change: AgentChange, revision: int | None, call: str | None
    ) -> list[Any]:
        request: dict[str, Any] = {
            "id": document.agent_id,
            "incarnation": document.incarnation,
            "call": call or self.new_id(),
            "events": len(change.events),
            "asked": dict(change.asked),
            "settled": list(change.settled),
        }
        if revision is not None:
            request["revision"] = revision
        if change.name is not None:
            request["name"] = change.name
        texts = [payload.to_text(event) for event in change.events] + change.writes()
        answer = await self._run("agent_change", document.agent_id, request, texts, [])
        if answer[0] == "ok":
            await self._hint(change)
        return answer

    async def _run(
        self, name: str, agent_id: str, request: Mapping[str, Any], texts: Sequence[str],
        more: Sequence[str],
    ) -> list[Any]:  # fmt: skip
        keys = self.keys(agent_id)
        # In a cluster the list of approvals lies in another slot; this name is never written.
        approvals = index_key("none", True) if self.cluster else APPROVALS
        names = [keys.document, keys.history, keys.names, keys.index, approvals, *more]
        request = {**request, "cluster": self.cluster}
        answer: list[Any] = await self.backend.run(
            script.load(name), names, [payload.to_text(request), *texts]
        )
        return answer

    async def _hint(self, change: AgentChange) -> None:
        """In a cluster the list of approvals is written from here."""
        if not self.cluster:
            return
        for approval, at in change.asked.items():
            await self.backend.command("ZADD", APPROVALS, at, approval)
        for approval in change.settled:
            await self.backend.command("ZREM", APPROVALS, approval)


def _kept(pairs: Sequence[str]) -> dict[str, JSON]:
    """Members and the texts that are stored for them, as they are read."""
    texts = zip(pairs[::2], pairs[1::2], strict=True)
    return {member: payload.decode(json.loads(text)) for member, text in texts}


def _error(code: str, rest: Sequence[Any], agent_id: str, name: str) -> Exception:
    if code == "name_taken":
        return NameTaken(name=name, agent=rest[0])
    if code == "bad_document":
        return BadDocument(reason=rest[0])
    if code == "unknown_agent":
        return UnknownAgent(agent=agent_id)
    return ServerError(f"the script answered {code!r}")
