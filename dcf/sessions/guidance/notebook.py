"""What the record of a conductor says of its guidance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from control_plane import (
    JSON,
    ConductorDocument,
    ConductorExists,
    ConductorStore,
    RecordChange,
    UnknownConductor,
)
from dcf.advisors.strategist import (
    InvalidStrategistGuidelines,
    StrategistGuidelines,
    StrategistRules,
    parse_guidelines,
)
from dcf.sessions.guidance.errors import UnreadableGuidelines
from dcf.sessions.session import Head

MEMBERS = ("registration", "guidelines", "analysed")
_SESSIONS = 100


@dataclass(frozen=True, slots=True)
class Look:
    """An analysis of a session at ``at`` (ms), when ``closed`` of its tasks had ended."""

    closed: int
    at: int

    def is_newer(self, head: Head) -> bool:
        """Whether the session does not know of it yet."""
        return (self.closed, self.at) > (head.analysed, head.analysed_at or -1)


@dataclass(frozen=True, slots=True)
class Notebook:
    """``guidelines`` as they were written, ``strategist_id`` who advises since ``registered_at``
    (ms); ``analysed`` the last look at each of the hundred sessions that were analysed last."""

    conductor_id: str
    guidelines: Mapping[str, Any] | None = None
    strategist_id: str | None = None
    registered_at: int = 0
    analysed: Mapping[str, Look] = field(default_factory=dict)

    @classmethod
    def read(cls, document: ConductorDocument) -> Notebook:
        """The notebook in a record that has ``MEMBERS``."""
        record: Mapping[str, Any] = document.record
        registration = record.get("registration") or {}
        return cls(
            document.id,
            record.get("guidelines"),
            registration.get("strategist_id"),
            registration.get("registered_at", 0),
            {name: Look(*look) for name, look in (record.get("analysed") or {}).items()},
        )

    def complete(self, rules: StrategistRules) -> StrategistGuidelines:
        """The guidelines. Raises UnreadableGuidelines."""
        if self.guidelines is None:
            return StrategistGuidelines.new(rules)
        try:
            return parse_guidelines(self.guidelines).complete(rules)
        except InvalidStrategistGuidelines as invalid:
            raise UnreadableGuidelines(conductor_id=self.conductor_id, why=invalid) from invalid

    def blank(self, rules: StrategistRules) -> StrategistGuidelines:
        """Guidelines that say nothing, for those who begin anew although these cannot be read."""
        written = self.guidelines or {}
        counts = {
            name: written[name]
            for name in ("revision", "update_count")
            if type(written.get(name)) is int
        }
        return replace(StrategistGuidelines.new(rules), **counts)

    def with_analysed(self, session: str, look: Look) -> dict[str, JSON]:
        """The member ``analysed`` after another analysis."""
        known = {**self.analysed, session: look}
        # The store keeps no order.
        newest = sorted(known, key=lambda name: known[name].at)[-_SESSIONS:]
        return {name: [known[name].closed, known[name].at] for name in newest}


class Notebooks:
    """The notebooks of conductors, changed by compare-and-set."""

    def __init__(self, store: ConductorStore) -> None:
        self.store = store

    async def read(self, conductor_id: str) -> Notebook:
        """The notebook; an empty one of a conductor that has none. Raises BadName."""
        document = await self.store.get(conductor_id, MEMBERS)
        return Notebook(conductor_id) if document is None else Notebook.read(document)

    async def change(
        self, conductor_id: str, plan: Callable[[Notebook], RecordChange | None]
    ) -> None:
        """Write what ``plan`` makes of the notebook; it may be called several times. Raises
        ConductorBusy, BadName, and what ``plan`` raises."""

        def planned(document: ConductorDocument) -> RecordChange | None:
            return plan(Notebook.read(document))

        while True:
            try:
                await self.store.update(conductor_id, planned, MEMBERS)
                return
            except UnknownConductor:
                # Conductors are agents: nobody makes the record before it is needed.
                with suppress(ConductorExists):
                    await self.store.create(conductor_id, conductor_id)
