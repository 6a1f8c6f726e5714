"""Who does the Tasks of a user's machine in a simulation: what its mocks say, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from control_plane import JSON, Store, split_path
from dcf import asl
from dcf.asl.trial import MockTrouble
from dcf.simulation.agents import Execution
from dcf.simulation.mocked_work import MockedWork, Revocation, Visits, revocation
from dcf.simulation.process import Process
from dcf.simulation.strangers import Strangers
from dcf.worker import AgentPerformer, Beat
from dcf.workflow import Failed, Outcome, Succeeded, Task

NO_MOCK = "Sim.NoMock"
"""Error of a Task that nothing is mocked for; the simulation is worth nothing then."""
Try = tuple[str, int, int]
# Who answers shows progress so often within its HeartbeatSeconds.
_BEATS = 3.0


@dataclass(slots=True)
class Calls:
    """What the work of one execution was asked: ``made`` has it in order, as invariants see it.
    ``planned`` is the limit of time that ends a try (path, visit, try) by its mock; ``missing``
    what nothing is mocked for."""

    made: list[dict[str, JSON]] = field(default_factory=list)
    planned: dict[Try, Revocation | None] = field(default_factory=dict)
    missing: list[MockTrouble] = field(default_factory=list)
    visits: Visits = field(default_factory=Visits)


@dataclass(frozen=True, slots=True)
class MockedStaff:
    """Does ``work``, and writes down what it was asked."""

    work: MockedWork
    calls: Calls
    ledger: list[Execution]
    strangers: Strangers

    @asynccontextmanager
    async def employed(
        self, process: Process, _store: Store, _sure: Store
    ) -> AsyncIterator[AgentPerformer]:
        """See ``Staff``."""
        yield _Performer(self, process)


@dataclass(frozen=True, slots=True)
class _Performer:
    """The work of the staff in one process."""

    staff: MockedStaff
    process: Process

    async def perform(self, task: Task, beat: Beat) -> Outcome:
        """The outcome of ``task``."""
        lease, calls = task.lease, self.staff.calls
        call = asl.TaskCall(
            split_path(lease.path), task.state.resource, task.arguments, lease.try_ - 1, task.token
        )
        place = call.path, calls.visits.number(call.path, lease.visit), call.attempt
        self.staff.ledger.append(Execution.under(lease, self.process.name))
        made = _told(task, self.process.name)
        calls.made.append(made)
        try:
            answer = self.staff.work.answer(place, call)
        except MockTrouble as trouble:
            calls.missing.append(trouble)
            return Failed(NO_MOCK, trouble.message)
        planned = revocation(answer, task.timeout_s, task.heartbeat_s)
        calls.planned[lease.path, lease.visit, lease.try_] = planned
        if task.token is not None:
            self.staff.strangers.answer(task.token, answer, heartbeat_s=task.heartbeat_s)
            return Succeeded(None)
        await self._go_on(answer, task.heartbeat_s, beat)
        return _answered(answer, made)

    async def _go_on(self, answer: asl.Answer, heartbeat_s: float | None, beat: Beat) -> None:
        """Let the time of the work pass, showing progress as ``answer`` says."""
        passed_s = 0.0
        for moment in sorted(answer.heartbeats_s if answer.event is None else ()):
            await self.process.sleep(moment - passed_s)
            passed_s = moment
            beat()
        if answer.event is None:
            await asyncio.Event().wait()
        every_s = None if heartbeat_s is None else heartbeat_s / _BEATS
        while every_s is not None and answer.after_s - passed_s > every_s:
            await self.process.sleep(every_s)
            passed_s += every_s
            beat()
        await self.process.sleep(answer.after_s - passed_s)


def _told(task: Task, worker: str) -> dict[str, JSON]:
    """A call as invariants see it, while it has no answer."""
    lease = task.lease
    return {
        "at": round(asyncio.get_running_loop().time(), 6),
        "path": lease.path,
        "state": task.state.name,
        "resource": task.state.resource,
        "arguments": task.arguments,
        "visit": lease.visit,
        "try": lease.try_,
        "key": lease.idempotency_key,
        "worker": worker,
    }


def _answered(answer: asl.Answer, made: dict[str, JSON]) -> Outcome:
    event = answer.event
    if isinstance(event, asl.TaskFailed):
        made |= {"error": event.error, "cause": event.cause}
        return Failed(event.error, event.cause)
    assert event is not None, "work without an answer never ends"
    made["result"] = event.result
    return Succeeded(event.result)
