"""The context object, ``$$``: what an expression may know about its execution."""

from __future__ import annotations

import uuid
from random import Random
from typing import Any

from dcf.asl.maps.map_run import MapRun
from dcf.asl.payload import JSON
from dcf.asl.timestamp import format_timestamp


def execution_context(input: JSON, name: str, now: float, rng: Random) -> dict[str, Any]:
    """``Execution`` and ``StateMachine`` of an execution that starts at ``now`` (epoch s)."""
    identity = str(uuid.UUID(int=rng.getrandbits(128), version=4))
    return {
        "Execution": {
            "Id": f"{name}:{identity}",
            "Input": input,
            "Name": identity,
            "RoleArn": "",
            "StartTime": format_timestamp(now),
            "RedriveCount": 0,
        },
        "StateMachine": {"Id": name, "Name": name},
    }


def iteration_context(
    context: dict[str, Any],
    index: int,
    item: JSON,
    source: str | None = None,
    *,
    keyed: bool = False,
) -> dict[str, Any]:
    """``context`` with ``Map.Item`` of one iteration; ``source`` where ItemSelector reads it."""
    seen = _item_seen(index, item, keyed)
    if source is not None:
        seen["Source"] = source
    return {**context, "Map": {"Item": seen}}


def child_context(
    context: dict[str, Any],
    run: MapRun,
    index: int,
    item: JSON,
    input: JSON,
    started: str,
    *,
    keyed: bool = False,
) -> dict[str, Any]:
    """The context of one iteration of a distributed Map: an execution of its own.

    It starts with ``input`` at ``started`` (RFC 3339); ``context`` is that of the Map's execution.
    """
    name = run.execution_name(index)
    execution = {
        **(context.get("Execution") or {}),
        "Id": run.execution(name),
        "Input": input,
        "Name": name,
        "StartTime": started,
    }
    machine = {"Id": run.machine, "Name": run.machine.rpartition(":")[2]}
    item_seen = {"Item": _item_seen(index, item, keyed)}
    return {**context, "Execution": execution, "StateMachine": machine, "Map": item_seen}


def _item_seen(index: int, item: Any, keyed: bool) -> dict[str, Any]:
    """``Map.Item``; of a ``keyed`` item, a member of an object, its Key and its Value."""
    return {"Index": index, **item} if keyed else {"Index": index, "Value": item}
