"""The run of a distributed Map: its id and names, the same whoever asks for them."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dcf.asl.scope import Scope
from dcf.asl.visit import Visit

if TYPE_CHECKING:
    from dcf.asl.state import MapState


@dataclass(frozen=True, slots=True)
class MapRun:
    """``arn`` of the run, ``machine`` that of its iterations' machine, ``id`` a UUID."""

    id: str
    arn: str
    machine: str

    def execution_name(self, index: int) -> str:
        """The name of the execution that iteration ``index`` is."""
        return str(uuid.uuid5(uuid.UUID(self.id), str(index)))

    def execution(self, name: str) -> str:
        """The ARN of the iteration called ``name``."""
        return f"{self.machine.replace(':stateMachine:', ':execution:', 1)}:{name}"


def map_run(state: MapState, visit: Visit) -> MapRun:
    """The run that this ``visit`` of a distributed Map started.

    The id depends on the visit's identity alone, never on the caller's generator: who takes the
    state over from a lost worker, or redrives it, must find the same files, and no other Map may
    write over them. A Retry is a new run.
    """
    scope = Scope(visit.input, _outside(visit), visit.variables, None, "map-run", visit.identity)
    identity = str(uuid.UUID(int=scope.random().getrandbits(128), version=4))
    machine = f"{_machine_id(visit.context)}/{state.label or state.name}"
    arn = f"{machine.replace(':stateMachine:', ':mapRun:', 1)}:{identity}"
    return MapRun(identity, arn, machine)


def _outside(visit: Visit) -> dict[str, Any]:
    """What ``visit`` sees but for the item of a Map around it, which is part of its identity."""
    return {**visit.context, "Map": None} if visit.identity else visit.context


def _machine_id(context: dict[str, Any]) -> str:
    machine = context.get("StateMachine") or {}
    known = str(machine.get("Id") or "")
    return known if ":stateMachine:" in known else f"arn:aws:states:::stateMachine:{known}"
