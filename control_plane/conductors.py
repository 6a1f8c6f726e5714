"""Records of conductors: what of one outlives its sessions."""

from __future__ import annotations

from typing import ClassVar

from control_plane.agents import AGENT_ID, AGENT_ID_RULE
from control_plane.errors import ConductorBusy, ConductorExists, UnknownConductor
from control_plane.record_document import RecordDocument
from control_plane.record_kind import RecordKind
from control_plane.records import RecordStore


class ConductorDocument(RecordDocument):
    """The record of a conductor."""

    __slots__ = ()
    ID_MEMBER: ClassVar[str] = "conductor_id"

    @property
    def conductor_id(self) -> str:
        return self.id


CONDUCTORS = RecordKind(
    noun="conductor",
    document=ConductorDocument,
    place="conductor",
    index="conductors",
    # A conductor is an agent.
    ids=AGENT_ID,
    rule=AGENT_ID_RULE,
    unknown=UnknownConductor,
    exists=ConductorExists,
    busy=ConductorBusy,
    newest=5_000,
)


class ConductorStore(RecordStore[ConductorDocument]):
    """The records of conductors: ``cp:conductor:{id}``."""

    kind = CONDUCTORS
