"""Opening a frame: an iteration of a Map or a branch of a Parallel enters its first state."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from control_plane import JSON, BadDocument, Commit, Failure, Lease, inside, payload, split_path
from dcf import asl
from dcf.workflow.effect_commit import enter, error_name
from dcf.workflow.fans import Fans, OpenFan
from dcf.workflow.happening import WORKER_LOST
from dcf.workflow.identity import is_distributed
from dcf.workflow.run import Run, state_context


@dataclass(frozen=True, slots=True)
class Opening:
    """A ``commit`` and, of an iteration of a distributed Map, the context that it gives."""

    commit: Commit
    around: Mapping[str, Any] | None = None


class FrameOpening:
    """Makes the commits of frame tickets; ``limit`` is that of a payload in bytes, None without."""

    def __init__(self, fans: Fans, rng: random.Random, limit: int | None) -> None:
        self._fans = fans
        self._rng = rng
        self._limit = limit

    async def open(self, run: Run, lease: Lease) -> Opening:
        """What the holder of a frame ticket commits: the first state with its input, or why that
        cannot be evaluated."""
        steps = split_path(lease.path)
        number = int(steps[-1])
        parent = run.machine.locate(list(steps[:-1]))
        fan = await self._fans.find(run, lease.path.rpartition("[")[0], lease.round)
        try:
            if lease.event == "worker_lost":
                raise asl.EvaluationError(*WORKER_LOST)
            machine, value = self._first(parent, fan, number)
            content = payload.encode(value)
        except asl.EvaluationError as error:
            return Opening(failed_frame(lease, error.error, error.cause))
        except BadDocument as error:
            return Opening(failed_frame(lease, error_name(error), str(error)))
        first = machine.states[machine.start_at]
        entered_at = lease.times.get("entered") or 0
        context: dict[str, Any] = {}
        around: Mapping[str, Any] | None = None
        if run.uses_context:
            around = fan.child_context(number, value, entered_at)
            context = state_context(around, first, entered_at=entered_at, retries={})
        visit = asl.Visit(value, context, dict(fan.variables))
        entry = enter(inside(lease.path, first.name), first, content, visit, {})
        # What a child was started with is part of its context where it counts as an execution.
        started = content if run.uses_context and is_distributed(parent) else None
        event = {**_event(lease), "next": entry.path}
        commit = Commit("open", event, enter=entry, effective_input=started)
        return Opening(commit, around if is_distributed(parent) else None)

    def opened(self, run: Run, lease: Lease, opening: Opening) -> None:
        """The commit of ``opening`` was accepted."""
        if opening.around is not None:
            self._fans.remember(run, lease.path, lease.round, opening.around)

    def _first(self, parent: asl.State, fan: OpenFan, number: int) -> tuple[asl.StateMachine, JSON]:
        """The machine of a child, and its input."""
        if fan.items is None:
            return parent.branches[number], fan.input
        if not isinstance(parent, asl.MapState) or parent.processor is None:
            raise TypeError(f"{parent.name} opened a Map frame but is no Map")
        item = fan.items[number]
        value = asl.item_input(
            parent, fan.visit, number, item, self._rng, limit=self._limit, keyed=fan.keyed
        )
        return parent.processor, value


def failed_frame(lease: Lease, error: str, cause: str) -> Commit:
    """The end of an iteration or branch that could not be entered."""
    event = {**_event(lease), "error": error}
    return Commit("failed", event, ends="failed", failure=Failure(error, cause))


def _event(lease: Lease) -> dict[str, Any]:
    return {
        "type": "FrameOpened",
        "path": lease.path,
        "visit": lease.visit,
        "owner": lease.owner,
    }
