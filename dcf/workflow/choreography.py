"""Choreography: what ``asl.step`` wants becomes one commit. Whoever finishes a state does this;
there is no orchestrator.

Flow states need no agent: the holder of the lease advances them alone. A Task is handed to
``perform`` and its outcome is stepped again.
"""

from __future__ import annotations

import asyncio
import random
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from control_plane import (
    BadDocument,
    Commit,
    Committed,
    Disconnected,
    Enter,
    Failure,
    Fan,
    Lease,
    Output,
    Payload,
    PayloadTooLarge,
    Refusal,
    Store,
    Wait,
    enclosing_joins,
    inside,
    payload,
    sibling,
    split_path,
)
from control_plane.payload import JSON
from dcf import asl
from dcf.workflow.happening import WORKER_LOST, happened
from dcf.workflow.limits import state_limits
from dcf.workflow.run import Run
from dcf.workflow.task import Failed, Outcome, Perform, Succeeded, Task

# Frames in flight at once, whatever MaxConcurrency allows: each is a document and a hint.
MAX_WINDOW = 256
_KEPT_FANS = 256
_AWAY_S = 0.25


@dataclass(frozen=True, slots=True)
class OpenFan:
    """What the frames of one open join share; ``outer_round`` is the round of the join itself."""

    visit: asl.Visit
    outer_round: int
    items: list[JSON] | None
    input: JSON


class Choreographer:
    """Advances leased states. ``rng`` is for jitter and the intrinsic functions that ask for it."""

    def __init__(self, store: Store, *, rng: random.Random) -> None:
        self._store = store
        self._rng = rng
        self._fans: OrderedDict[tuple[str, str, int], OpenFan] = OrderedDict()

    async def advance(
        self, run: Run, lease: Lease, perform: Perform, *, in_place: bool = False
    ) -> Committed | Refusal:
        """Do the one step that ``lease`` is for and commit it."""
        if lease.kind == "frame":
            return await self._open_frame(run, lease, in_place)
        state = run.machine.locate(list(split_path(lease.path)))
        visit = await self._visit(run, lease, state)
        event = await happened(self._store, lease, state)
        outcome: Outcome | None = None
        effect = event if isinstance(event, asl.Failure) else self._step(state, visit, event)
        if isinstance(effect, asl.RunTask):
            outcome = await perform(Task(run, lease, state, effect.arguments))
            effect = self._step(state, visit, _answered(outcome))
        if isinstance(effect, asl.FanOut) and effect.count == 0:
            effect = self._step(state, visit, asl.Joined([]))
        try:
            commit = self._commit(run, lease, effect, outcome)
            answer = await self._say(lease, commit, in_place)
        except BadDocument as error:
            commit = self._commit(run, lease, self._unstorable(state, visit, error), outcome)
            answer = await self._say(lease, commit, in_place)
        if isinstance(answer, Refusal) and answer.code == "limit_exceeded":
            failure = asl.Failure("DCF.LimitExceeded", f"the run used up its {answer.detail[0]}")
            return await self._say(lease, self._commit(run, lease, failure, outcome), in_place)
        return answer

    async def _say(self, lease: Lease, commit: Commit, in_place: bool) -> Committed | Refusal:
        """Commit, again and again while the server is away and the lease may still hold: work that
        is done is not done twice because Redis restarts."""
        commit_id = self._store.new_id()
        patience = lease.ttl_ms / 1000
        while True:
            try:
                return await self._store.commit(
                    lease, commit, commit_id=commit_id, in_place=in_place
                )
            except Disconnected:
                if patience <= 0:
                    raise
                await asyncio.sleep(_AWAY_S)
                patience -= _AWAY_S

    def _step(self, state: asl.State, visit: asl.Visit, event: asl.Event) -> asl.Effect:
        return asl.step(state, visit, event, rng=self._rng)

    def _unstorable(self, state: asl.State, visit: asl.Visit, error: BadDocument) -> asl.Effect:
        """What the state does when its result cannot be stored: permanent, so Catch decides."""
        if isinstance(state, asl.TaskState):
            name = (
                "States.DataLimitExceeded"
                if isinstance(error, PayloadTooLarge)
                else "States.Runtime"
            )
            effect = self._step(state, visit, asl.TaskFailed(name, str(error)))
            if not isinstance(effect, asl.RetryAfter):
                return effect
        return asl.Failure("States.DataLimitExceeded", str(error))

    # -- what the state sees --------------------------------------------------------------------

    async def _visit(self, run: Run, lease: Lease, state: asl.State) -> asl.Visit:
        if not run.uses_context:
            return asl.Visit(lease.input, {}, {}, lease.retries)
        context = run.context(
            state=state.name,
            entered_at=lease.times.get("entered") or 0,
            retries=sum(lease.retries.values()),
            item=await self._item(run, lease),
        )
        return asl.Visit(lease.input, context, {}, lease.retries)

    async def _item(self, run: Run, lease: Lease) -> JSON:
        """The item of the innermost Map around the state, for the context object."""
        round_ = lease.round
        for parent, index in reversed(enclosing_joins(lease.path)):
            fan = await self._fan(run, lease.workflow_id, parent, round_)
            if fan.items is not None:
                return {"Index": index, "Value": fan.items[index]}
            round_ = fan.outer_round
        return None

    # -- frames -----------------------------------------------------------------------------------

    async def _open_frame(self, run: Run, lease: Lease, in_place: bool) -> Committed | Refusal:
        """Enter the first state of an iteration or branch."""
        steps = split_path(lease.path)
        parent_path = lease.path.rpartition("[")[0]
        number = int(steps[-1])
        parent = run.machine.locate(list(steps[:-1]))
        fan = await self._fan(run, lease.workflow_id, parent_path, lease.round)
        event = {"type": "FrameOpened", "path": lease.path, "visit": lease.visit}
        try:
            if lease.event == "worker_lost":
                raise asl.EvaluationError(*WORKER_LOST)
            if fan.items is None:
                machine, value = parent.branches[number], fan.input
            else:
                if not isinstance(parent, asl.MapState) or parent.processor is None:
                    raise TypeError(f"{parent.name} opened a Map frame but is no Map")
                machine = parent.processor
                value = asl.item_input(parent, fan.visit, number, fan.items[number])
        except asl.EvaluationError as error:
            failure = Failure(error.error, error.cause)
            commit = Commit(
                "failed", {**event, "error": error.error}, ends="failed", failure=failure
            )
            return await self._say(lease, commit, in_place)
        first = machine.states[machine.start_at]
        enter = _enter(inside(lease.path, first.name), first, payload.encode(value), value)
        commit = Commit("open", {**event, "next": enter.path}, enter=enter)
        return await self._say(lease, commit, in_place)

    async def _fan(self, run: Run, workflow_id: str, parent_path: str, round_: int) -> OpenFan:
        """The fan-out record of a join; it does not change within a round."""
        key = (workflow_id, parent_path, round_)
        found = self._fans.get(key)
        if found is None:
            document = (await self._store.states(workflow_id, [parent_path]))[parent_path]
            fan = await self._store.value(workflow_id, document.fan)
            parent = run.machine.locate(list(split_path(parent_path)))
            raw = await self._store.value(workflow_id, document.input)
            context = run.context(
                state=parent.name,
                entered_at=document.times.get("entered") or 0,
                retries=sum(document.retries.values()),
                item=None,
            )
            visit = asl.Visit(raw, context, {}, document.retries)
            found = OpenFan(visit, document.round, fan.get("items"), fan.get("input"))
            self._fans[key] = found
            if len(self._fans) > _KEPT_FANS:
                self._fans.popitem(last=False)
        return found

    # -- effects to commits ---------------------------------------------------------------------

    def _commit(
        self, run: Run, lease: Lease, effect: asl.Effect, outcome: Outcome | None
    ) -> Commit:
        event: dict[str, Any] = {"path": lease.path, "visit": lease.visit, "try": lease.try_}
        metrics = dict(outcome.metrics) if outcome is not None and outcome.metrics else None
        if isinstance(effect, asl.Transition):
            content = payload.encode(effect.output)
            target = sibling(lease.path, effect.next)
            state = run.machine.locate([*split_path(lease.path)[:-1], effect.next])
            event |= {"type": "StateDone", "output": content.digest, "next": target}
            return Commit(
                "done",
                event,
                output=_output(content, outcome),
                enter=_enter(target, state, content, effect.output),
                metrics=metrics,
            )
        if isinstance(effect, asl.Finish):
            content = payload.encode(effect.output)
            event |= {"type": "StateDone", "output": content.digest}
            output = _output(content, outcome)
            return Commit("done", event, output=output, ends="done", metrics=metrics)
        if isinstance(effect, asl.Failure):
            failure = Failure(effect.error, effect.cause)
            event |= {"type": "StateFailed", "error": effect.error}
            output = Output(False, _NOTHING, failure=failure, metrics=metrics or {})
            return Commit(
                "failed", event, output=output, ends="failed", failure=failure, metrics=metrics
            )
        if isinstance(effect, asl.RetryAfter):
            retries = {**lease.retries, effect.retrier: lease.retries.get(effect.retrier, 0) + 1}
            event |= {"type": "RetryScheduled", "error": effect.error, "seconds": effect.seconds}
            return Commit(
                "wait",
                event,
                wait=Wait("retry", delay_ms=round(effect.seconds * 1000), retries=retries),
                failure=Failure(effect.error, effect.cause),
                metrics=metrics,
            )
        if isinstance(effect, asl.WaitFor):
            event |= {"type": "WaitStarted", "seconds": effect.seconds}
            return Commit("wait", event, wait=Wait("timer", delay_ms=round(effect.seconds * 1000)))
        if isinstance(effect, asl.WaitUntil):
            event |= {"type": "WaitStarted", "until": effect.at}
            return Commit("wait", event, wait=Wait("timer", until_ms=round(effect.at * 1000)))
        if isinstance(effect, asl.FanOut):
            shared = {"input": effect.input} if effect.items is None else {"items": effect.items}
            event |= {"type": "FannedOut", "n": effect.count}
            window = min(effect.max_concurrency or MAX_WINDOW, MAX_WINDOW)
            return Commit("wait", event, fan=Fan(effect.count, window, payload.encode(shared)))
        raise TypeError(f"a task asked for a task again: {effect}")


_NOTHING = payload.encode(None)


def _answered(outcome: Outcome) -> asl.Event:
    if isinstance(outcome, Succeeded):
        return asl.TaskSucceeded(outcome.result)
    return asl.TaskFailed(outcome.error, outcome.cause)


def _output(content: Payload, outcome: Outcome | None) -> Output:
    if isinstance(outcome, Succeeded):
        return Output(True, content, outcome.summary, outcome.artifacts, outcome.metrics)
    if isinstance(outcome, Failed):
        return Output(
            True, content, f"caught {outcome.error}: {outcome.cause}", metrics=outcome.metrics
        )
    return Output(True, content)


def _enter(path: str, state: asl.State, content: Payload, value: JSON) -> Enter:
    timeout_ms, heartbeat_ms = state_limits(state)
    return Enter(path, state.type, content, value, timeout_ms, heartbeat_ms)
