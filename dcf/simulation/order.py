"""An order: a run as its client wants it, and what the pure interpreter makes of it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from control_plane import JSON, split_path
from dcf import asl
from dcf.simulation.behaviour import Behaviour
from dcf.workflow import WorkflowDocument

EPOCH_S = 1_700_000_000
"""When every simulation begins."""


@dataclass(frozen=True, slots=True)
class Order:
    """A run as its client wants it. Times in virtual seconds; ``redrives``: how often it is
    redriven when it did not succeed, by ``redrivers`` clients at once."""

    workflow_id: str
    document: WorkflowDocument
    input: JSON
    sites: dict[str, Behaviour]
    submit_at: float
    cancel_at: float | None
    redrives: int
    redrivers: int

    def planned(self, told: Mapping[str, Any]) -> str | None:
        """Which limit of time was meant to end the try of which an event has ``told``."""
        state = self.document.machine.locate(list(split_path(told["path"])))
        behaviour = self.sites.get(state.resource or "")
        if behaviour is None or behaviour.answers(told["try"] - 1):
            return None
        return "timeout" if behaviour.kind == "hangs" else "heartbeat"


def interpret(order: Order, *, aws_limits: bool = False) -> asl.Execution:
    """What the pure interpreter makes of the order, with the same work done by the same sites."""

    def call_task(call: asl.TaskCall) -> asl.Answer:
        behaviour = order.sites[call.resource or ""]
        if behaviour.answers(call.attempt):
            event = behaviour.event(call.resource or "", call.attempt, call.arguments)
            return asl.Answer(event, behaviour.seconds)
        return asl.Answer(None)

    machine = order.document.machine
    unlimited = asl.StateMachine(machine.start_at, machine.states)
    clock = asl.VirtualClock(float(EPOCH_S))
    return asl.interpret(
        unlimited,
        order.input,
        call_task=call_task,
        clock=clock,
        rng=random.Random(0),
        aws_limits=aws_limits,
        count_events=False,
    )
