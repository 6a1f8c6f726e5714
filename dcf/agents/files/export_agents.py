"""Agents of a memory as an agent file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from dcf.agents.files.agent_file import AgentFile, FileAgent, FileBlock, FileMessage, FileTool
from dcf.agents.files.form import OWN
from dcf.agents.files.kept import FILE, kept_in
from dcf.agents.files.normal_form import KINDS, NO_REST
from dcf.agents.files.numbering import Numbering, renamed
from dcf.agents.files.read import tool_of
from dcf.digest import canonical_json
from dcf.memory import (
    Agent,
    Block,
    Departure,
    Memory,
    Message,
    NewAgent,
    NewBlock,
    NewMessage,
    give_out,
)


async def export_agents(memory: Memory, agent_ids: Sequence[str]) -> AgentFile:
    """The agents with all that is theirs, of one moment. No value of a secret is in it, for none is
    kept. Raises UnknownAgent."""
    departures = await give_out(memory, list(dict.fromkeys(agent_ids)))
    return _Exporter(memory.ledger.clock()).file(departures)


class _Exporter:
    """Puts agents that may come from several files into one, under ids of its own."""

    def __init__(self, at: int) -> None:
        self._at = at
        self._ids = {
            kind: Numbering(kind) for kind in ("agent", "block", "message", "tool", *KINDS.values())
        }
        self._blocks: list[FileBlock] = []
        self._tools: list[FileTool] = []
        self._rest: dict[str, Any] = {
            name: list(value) for name, value in NO_REST.items() if value == []
        }

    def file(self, departures: Sequence[Departure]) -> AgentFile:
        agents = tuple(map(self._agent, departures))
        extra = {**NO_REST, "created_at": _iso(self._at), **self._rest}
        return AgentFile(agents, tuple(self._blocks), tuple(self._tools), extra)

    def _agent(self, departure: Departure) -> FileAgent:
        agent = departure.agent
        file = kept_in(agent.extra, FILE)
        own, _ = self._ids["agent"].id_of(agent.id, file.get("id"))
        blocks = tuple(map(self._block, departure.blocks))
        names = {file["id"]: own} if "id" in file else {}
        tools = tuple(self._tool(raw, names) for raw in file.get("tools") or ())
        self._others(file.get("rest") or {}, names)
        kept = file.get("messages") or {}
        messages = tuple(
            self._message(one, kept.get(str(one.seq)) or {}, names) for one in departure.messages
        )
        return FileAgent(
            id=own,
            new=_new_agent(agent),
            blocks=blocks,
            tools=tools,
            messages=messages,
            secrets=tuple(file.get("secrets") or ()),
            extra=renamed(file.get("members") or {}, names),
        )

    def _block(self, block: Block) -> str:
        file = kept_in(block.metadata, OWN)
        metadata = {name: value for name, value in block.metadata.items() if name != OWN}
        # Who holds a block under another label sees another block: a file has one label for each.
        own, is_new = self._ids["block"].id_of((block.id, block.label), file.get("id"))
        if is_new:
            new = NewBlock(**_shared(block, NewBlock) | {"metadata": metadata})
            self._blocks.append(FileBlock(own, new, file.get("members") or {}))
        return own

    def _message(
        self, message: Message, file: Mapping[str, Any], names: dict[str, str]
    ) -> FileMessage:
        own, _ = self._ids["message"].id_of(message.id, file.get("id"))
        if "id" in file:
            names[file["id"]] = own
        return FileMessage(
            id=own,
            new=NewMessage(**_shared(message, NewMessage)),
            in_context=message.archived_at is None or bool(file.get("in_context")),
            extra=renamed(file.get("members"), names) or {"created_at": _iso(message.created_at)},
        )

    def _tool(self, raw: Mapping[str, Any], names: dict[str, str]) -> str:
        own, is_new = self._ids["tool"].id_of(canonical_json(raw), raw["id"])
        names[raw["id"]] = own
        if is_new:
            self._tools.append(tool_of({**raw, "id": own}))
        return own

    def _others(self, rest: Mapping[str, Any], names: dict[str, str]) -> None:
        """Groups, files, sources and so on, each once; of what there is one of, the first."""
        fresh: list[tuple[str, Any]] = []
        for name, value in rest.items():
            if name not in KINDS:
                self._rest.setdefault(name, value)
                continue
            for thing in value:
                kind = KINDS[name]
                own, is_new = self._ids[kind].id_of(canonical_json(thing), thing.get("id"))
                if "id" in thing:
                    names[thing["id"]] = own
                if is_new:
                    fresh.append((name, thing))
        for name, thing in fresh:
            self._rest[name].append(renamed(thing, names))


def _new_agent(agent: Agent) -> NewAgent:
    return NewAgent(**_shared(agent, NewAgent) | {"extra": {}})


def _shared(thing: Any, new: type) -> dict[str, Any]:
    """What ``thing`` was made with, as it is now."""
    return {one.name: getattr(thing, one.name) for one in fields(new)}


def _iso(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).isoformat()
