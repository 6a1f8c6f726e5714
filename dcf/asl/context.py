"""The context object, ``$$``: what an expression may know about its execution."""

from __future__ import annotations

import uuid
from random import Random
from typing import Any

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


def iteration_context(context: dict[str, Any], index: int, item: JSON) -> dict[str, Any]:
    """``context`` with ``Map.Item`` of one iteration."""
    return {**context, "Map": {"Item": {"Index": index, "Value": item}}}
