"""Choreography: what ``asl.step`` wants becomes one commit. Whoever finishes a state does this;
there is no orchestrator.

Flow states need no agent: the holder of the lease advances them alone. A Task is handed to
``perform`` and its outcome is stepped again.
"""

from __future__ import annotations

import asyncio
import random
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any

from control_plane import (
    BadDocument,
    Commit,
    Committed,
    Disconnected,
    Failure,
    Lease,
    Payload,
    PayloadTooLarge,
    Refusal,
    Store,
    enclosing_joins,
    inside,
    payload,
    split_path,
)
from control_plane.payload import JSON
from dcf import asl
from dcf.workflow.effect_commit import commit_of, enter
from dcf.workflow.happening import WORKER_LOST, happened
from dcf.workflow.run import Run
from dcf.workflow.tally import add_metrics
from dcf.workflow.task import Failed, Outcome, Perform, Succeeded, Task

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
        self._fans: OrderedDict[tuple[str, str, str, int], OpenFan] = OrderedDict()

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
        trouble = _trouble(event)
        effect: asl.Effect
        effect = event if isinstance(event, asl.Failure) else self._step(state, visit, event)
        effective: Payload | None = None
        if isinstance(effect, asl.RunTask):
            arguments = effect.arguments
            try:
                effective = None if arguments is lease.input else payload.encode(arguments)
            except BadDocument as error:
                effect = self._unstorable(state, visit, error)
            else:
                outcome = await perform(Task(run, lease, state, arguments))
                answer = _answered(outcome)
                trouble = _trouble(answer)
                effect = self._step(state, visit, answer)
        if isinstance(effect, asl.FanOut) and effect.count == 0:
            effect = self._step(state, visit, asl.Joined([]))
        try:
            return await self._conclude(run, lease, effect, outcome, trouble, effective, in_place)
        except BadDocument as error:
            refused = error
        outcome = _spoilt(outcome, refused)
        trouble = Failure(_error_name(refused), str(refused))
        try:
            effect = self._unstorable(state, visit, refused)
            return await self._conclude(run, lease, effect, outcome, trouble, effective, in_place)
        except BadDocument as error:
            # What Catch makes of it cannot be stored either.
            failure = asl.Failure(_error_name(error), str(error))
            return await self._conclude(run, lease, failure, outcome, None, effective, in_place)

    async def _conclude(
        self,
        run: Run,
        lease: Lease,
        effect: asl.Effect,
        outcome: Outcome | None,
        trouble: Failure | None,
        effective: Payload | None,
        in_place: bool,
    ) -> Committed | Refusal:
        """Commit ``effect``; a run that used up its limits fails instead."""
        metrics = await self._spent(lease, outcome)
        commit = commit_of(run, lease, effect, outcome, metrics, trouble)
        commit = replace(commit, effective_input=effective) if effective else commit
        answer = await self._say(lease, commit, in_place)
        if isinstance(answer, Refusal) and answer.code == "limit_exceeded":
            failure = asl.Failure(*_used_up(answer))
            commit = commit_of(run, lease, failure, outcome, metrics)
            return await self._say(lease, commit, in_place)
        return answer

    async def _spent(self, lease: Lease, outcome: Outcome | None) -> dict[str, Any] | None:
        """What the visit has cost: this try's metrics and those of the tries before it."""
        if outcome is None or not outcome.metrics:
            return None
        if not lease.retries:
            return dict(outcome.metrics)
        found = await self._store.states(lease.workflow_id, [lease.path])
        return add_metrics(found[lease.path].metrics or {}, outcome.metrics)

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
        """What the state does when its result cannot be stored. That is permanent, so nothing is
        tried again; a Catch may match."""
        name, cause = _error_name(error), str(error)
        told: asl.Event
        if isinstance(state, asl.TaskState):
            told = asl.TaskFailed(name, cause)
        elif isinstance(state, (asl.MapState, asl.ParallelState)):
            told = asl.ChildFailed(name, cause)
        else:
            return asl.Failure(name, cause)
        spent = {index: retrier.max_attempts for index, retrier in enumerate(state.retriers)}
        return self._step(state, replace(visit, retries=spent), told)

    # -- what the state sees --------------------------------------------------------------------

    async def _visit(self, run: Run, lease: Lease, state: asl.State) -> asl.Visit:
        if not run.uses_context:
            return asl.Visit(lease.input, {}, {}, lease.retries)
        context = run.context(
            state=state,
            entered_at=lease.times.get("entered") or 0,
            retries=lease.retries,
            item=await self._item(run, lease.workflow_id, lease.path, lease.round),
        )
        return asl.Visit(lease.input, context, {}, lease.retries)

    async def _item(self, run: Run, workflow_id: str, path: str, round_: int) -> JSON:
        """The item of the innermost Map around ``path``, for the context object."""
        for parent, index in reversed(enclosing_joins(path)):
            fan = await self._fan(run, workflow_id, parent, round_)
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
        event["owner"] = lease.owner
        try:
            if lease.event == "worker_lost":
                raise asl.EvaluationError(*WORKER_LOST)
            if fan.items is None:
                machine, value = parent.branches[number], fan.input
            else:
                if not isinstance(parent, asl.MapState) or parent.processor is None:
                    raise TypeError(f"{parent.name} opened a Map frame but is no Map")
                machine = parent.processor
                value = asl.item_input(parent, fan.visit, number, fan.items[number], self._rng)
            content = payload.encode(value)
        except (asl.EvaluationError, BadDocument) as error:
            return await self._fail_frame(lease, _error_name(error), _cause(error), in_place)
        first = machine.states[machine.start_at]
        entry = enter(inside(lease.path, first.name), first, content, value)
        commit = Commit("open", {**event, "next": entry.path}, enter=entry)
        answer = await self._say(lease, commit, in_place)
        if isinstance(answer, Refusal) and answer.code == "limit_exceeded":
            return await self._fail_frame(lease, *_used_up(answer), in_place)
        return answer

    async def _fail_frame(
        self, lease: Lease, error: str, cause: str, in_place: bool
    ) -> Committed | Refusal:
        """End an iteration or branch that could not be entered."""
        event = {"type": "FrameOpened", "path": lease.path, "visit": lease.visit, "error": error}
        event["owner"] = lease.owner
        failure = Failure(error, cause)
        commit = Commit("failed", event, ends="failed", failure=failure)
        return await self._say(lease, commit, in_place)

    async def _fan(self, run: Run, workflow_id: str, parent_path: str, round_: int) -> OpenFan:
        """The fan-out record of a join; it does not change within a round."""
        key = (workflow_id, run.incarnation, parent_path, round_)
        found = self._fans.get(key)
        if found is None:
            document = (await self._store.states(workflow_id, [parent_path]))[parent_path]
            fan = await self._store.value(workflow_id, document.fan)
            parent = run.machine.locate(list(split_path(parent_path)))
            raw = await self._store.value(workflow_id, document.input)
            context = run.context(
                state=parent,
                entered_at=document.times.get("entered") or 0,
                retries=document.retries,
                item=(
                    await self._item(run, workflow_id, parent_path, document.round)
                    if run.uses_context
                    else None
                ),
            )
            visit = asl.Visit(raw, context, {}, document.retries)
            found = OpenFan(visit, document.round, fan.get("items"), fan.get("input"))
            self._fans[key] = found
            if len(self._fans) > _KEPT_FANS:
                self._fans.popitem(last=False)
        return found


def _used_up(refusal: Refusal) -> tuple[str, str]:
    """Error and cause of a run that reached one of its limits."""
    return "DCF.LimitExceeded", f"the run used up its {refusal.detail[0]}"


def _trouble(event: asl.Event | asl.Failure) -> Failure | None:
    """What a state was told had failed, if anything."""
    if isinstance(event, (asl.TaskFailed, asl.ChildFailed)):
        return Failure(event.error, event.cause)
    return None


def _answered(outcome: Outcome) -> asl.Event:
    if isinstance(outcome, Succeeded):
        return asl.TaskSucceeded(outcome.result)
    return asl.TaskFailed(outcome.error, outcome.cause)


def _error_name(error: asl.EvaluationError | BadDocument) -> str:
    if isinstance(error, asl.EvaluationError):
        return error.error
    return "States.DataLimitExceeded" if isinstance(error, PayloadTooLarge) else "States.Runtime"


def _cause(error: asl.EvaluationError | BadDocument) -> str:
    return error.cause if isinstance(error, asl.EvaluationError) else str(error)


def _spoilt(outcome: Outcome | None, error: BadDocument) -> Outcome | None:
    """The outcome of work whose result cannot be stored: it failed, and cost what it cost."""
    if outcome is None:
        return None
    try:
        payload.to_text(outcome.metrics)
    except BadDocument:
        return Failed(_error_name(error), str(error))
    return Failed(_error_name(error), str(error), outcome.metrics)
