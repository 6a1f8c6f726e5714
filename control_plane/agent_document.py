"""The record of an agent, typed. Its shape is ``schemas/agent.schema.json``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from control_plane import payload
from control_plane.errors import BadName, PayloadTooLarge
from control_plane.payload import JSON

MEMBER_LIMIT = 4 * 1024 * 1024
"""Bytes of one member of a record."""

_AGENT_ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
_MEMBER = re.compile(r"[a-z][a-z0-9_]{0,63}")
_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,256}")
# Such an id would name another agent's history.
_HISTORY = ":history"


def check_agent_id(agent_id: str) -> str:
    """``agent_id`` itself. Raises BadName unless it matches ``[A-Za-z0-9_.:-]{1,128}`` and does not
    end with ``:history``."""
    if not _AGENT_ID.fullmatch(agent_id) or agent_id.endswith(_HISTORY):
        rule = "1 to 128 characters of A-Z a-z 0-9 _ . : -, not ending with :history"
        raise BadName(what="agent id", value=agent_id, rule=rule)
    return agent_id


def check_agent_name(name: str) -> str:
    """``name`` itself. Raises BadName for one that is empty, long, or has control characters."""
    if not _NAME.fullmatch(name):
        rule = "1 to 256 characters, none of them a control character"
        raise BadName(what="agent name", value=name, rule=rule)
    return name


@dataclass(frozen=True, slots=True)
class AgentKeys:
    """The keys of one agent's record. With ``cluster`` all agents share a slot, since a script that
    makes one writes the index of names too."""

    agent_id: str
    cluster: bool = False

    @property
    def document(self) -> str:
        return f"cp:{{agent}}:{self.agent_id}" if self.cluster else f"cp:agent:{self.agent_id}"

    @property
    def history(self) -> str:
        return self.document + _HISTORY

    @property
    def names(self) -> str:
        return index_key("names", self.cluster)

    @property
    def index(self) -> str:
        return index_key("index", self.cluster)

    def gone(self, call: str) -> str:
        return index_key(f"gone:{call}", self.cluster)

    @property
    def kept(self) -> str:
        return index_key(f"kept:{self.agent_id}", self.cluster)


def index_key(name: str, cluster: bool) -> str:
    """A key about all agents; no agent's document can have it."""
    return f"cp:agents:{{agent}}:{name}" if cluster else f"cp:agents:{name}"


@dataclass(frozen=True, slots=True)
class AgentDocument:
    """The record of an agent, or those members of it that were asked for. ``incarnation`` tells it
    from others that had its id; times are ms since the epoch, by Redis's clock."""

    agent_id: str
    name: str
    tags: tuple[str, ...]
    revision: int
    incarnation: str
    created_at: int
    updated_at: int
    record: dict[str, JSON] = field(hash=False)

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> AgentDocument:
        """The document in ``raw``, what is stored under its key."""
        return cls(
            agent_id=raw["agent_id"],
            name=raw["name"],
            tags=tuple(raw["tags"]),
            revision=int(raw["revision"]),
            incarnation=raw["ctl"]["incarnation"],
            created_at=int(raw["created_at"]),
            updated_at=int(raw["updated_at"]),
            record={name: payload.decode(value) for name, value in raw["record"].items()},
        )


@dataclass(frozen=True, slots=True)
class AgentChange:
    """What a change writes, all of it or nothing: ``members`` of the record, whole, and the
    ``events`` that say so. ``asked`` are approvals to be listed, with when they were asked for
    (ms), ``settled`` those that are over. ``name`` and ``tags`` stay as they are when None."""

    events: Sequence[Mapping[str, JSON]] = ()
    members: Mapping[str, JSON] = field(default_factory=dict)
    name: str | None = None
    tags: Sequence[str] | None = None
    asked: Mapping[str, int] = field(default_factory=dict)
    settled: Sequence[str] = ()

    def writes(self) -> list[str]:
        """Pairs of a path in the document and a JSON text. Raises BadDocument, BadName."""
        texts = []
        if self.name is not None:
            texts += ["$.name", payload.to_text(check_agent_name(self.name))]
        if self.tags is not None:
            texts += ["$.tags", payload.to_text(list(self.tags))]
        for member, value in self.members.items():
            texts += [f"$.record.{check_member(member)}", stored(value)]
        return texts


def check_member(member: str) -> str:
    """``member`` itself. Raises BadName unless it can stand in a path."""
    if not _MEMBER.fullmatch(member):
        raise BadName(what="member of a record", value=member, rule="a-z 0-9 _, a letter first")
    return member


def stored(value: JSON) -> str:
    """``value`` as it is stored in a record. Raises BadDocument, PayloadTooLarge over 4 MiB."""
    content = payload.encode(value, inline_limit=MEMBER_LIMIT)
    if content.blob is not None:
        raise PayloadTooLarge(size=content.size, limit=MEMBER_LIMIT, reason="too large")
    return content.stored


def new_document(agent_id: str, name: str, tags: Sequence[str], record: Mapping[str, JSON]) -> str:
    """The text of a new document, without what the script adds."""
    members = ",".join(
        f"{json.dumps(check_member(member))}:{stored(value)}" for member, value in record.items()
    )
    head = payload.to_text({"agent_id": agent_id, "name": name, "tags": list(tags)})
    return f'{head[:-1]},"record":{{{members}}}}}'
