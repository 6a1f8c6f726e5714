"""Choreography: what ``asl.step`` wants becomes one commit. Whoever finishes a state does this;
there is no orchestrator.

Flow states need no agent: the holder of the lease advances them alone. A Task is handed to
``perform`` and its outcome is stepped again.
"""

from __future__ import annotations

import asyncio
import random
from contextlib import AbstractContextManager, nullcontext
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
    Refusal,
    Store,
    payload,
    split_path,
)
from dcf import asl
from dcf.workflow.effect_commit import (
    Step,
    commit_of,
    error_name,
    failed_state,
    takes_callback,
)
from dcf.workflow.fans import Fans
from dcf.workflow.frame_opening import FrameOpening, failed_frame
from dcf.workflow.happening import happened
from dcf.workflow.identity import lease_identity
from dcf.workflow.limits import work_limits
from dcf.workflow.objects import Objects, no_objects
from dcf.workflow.run import Run, state_context
from dcf.workflow.tally import add_metrics
from dcf.workflow.task import Failed, Outcome, Perform, Succeeded, Task
from dcf.workflow.task_token import WITH_TOKEN, without_token

Kept = AbstractContextManager[object]
"""Keeps a lease while it is entered; it may raise when the lease was lost."""

_AWAY_S = 0.25
_UNREADABLE = "States.Runtime"
_NO_TOKENS = (
    "States.Runtime",
    "the run has no secret to sign task tokens with: it was submitted by a version that did not "
    "know .waitForTaskToken; submit it again",
)


@dataclass(slots=True)
class _Taken:
    """How far a step has come."""

    effect: asl.Effect
    trouble: Failure | None
    outcome: Outcome | None = None
    effective: Payload | None = None
    refused: Refusal | None = None


class Choreographer:
    """Advances leased states.

    ``rng`` is for jitter and the intrinsic functions that ask for it, ``objects`` for ItemReader
    and ResultWriter. With ``aws_limits`` a payload over 262,144 bytes is
    ``States.DataLimitExceeded``, as on AWS.
    """

    def __init__(
        self,
        store: Store,
        *,
        rng: random.Random,
        objects: Objects | None = None,
        aws_limits: bool = False,
    ) -> None:
        self._store = store
        self._rng = rng
        self._objects = objects or no_objects()
        self._limit = asl.PAYLOAD_LIMIT if aws_limits else None
        self._fans = Fans(store)
        self._frames = FrameOpening(self._fans, rng, self._limit)

    async def advance(
        self,
        run: Run,
        lease: Lease,
        perform: Perform,
        *,
        kept: Kept | None = None,
        in_place: bool = False,
    ) -> Committed | Refusal:
        """Do the one step that ``lease`` is for and commit it. Within ``kept`` the lease is kept,
        or the step stopped; it is left before the commit, which ends the lease itself."""
        kept = kept or nullcontext()
        if lease.kind == "frame":
            return await self._open_frame(run, lease, kept, in_place)
        state = run.machine.locate(list(split_path(lease.path)))
        with kept:
            visit = await self._visit(run, lease, state)
            taken = await self._take(run, lease, state, visit, perform)
        if taken.refused is not None:
            return taken.refused
        step = Step(run, lease, visit, taken.outcome, None, taken.trouble)
        try:
            return await self._conclude(step, taken.effect, taken.effective, in_place)
        except BadDocument as error:
            refused = error
        trouble = Failure(error_name(refused), str(refused))
        step = replace(step, outcome=_spoilt(taken.outcome, refused), trouble=trouble)
        try:
            effect = self._unstorable(state, visit, refused)
            return await self._conclude(step, effect, taken.effective, in_place)
        except BadDocument as error:
            # What Catch makes of it cannot be stored either.
            failure = asl.Failure(error_name(error), str(error))
            return await self._conclude(
                replace(step, trouble=None), failure, taken.effective, in_place
            )

    async def refuse(self, lease: Lease, cause: str) -> Committed | Refusal:
        """Fail what ``lease`` is for: the definition of its run cannot be read here."""
        failure = asl.Failure(_UNREADABLE, cause)
        if lease.kind == "frame":
            return await self._say(lease, failed_frame(lease, _UNREADABLE, cause), False)
        return await self._say(lease, failed_state(lease, failure), False)

    def forget(self, workflow_id: str) -> None:
        """The run is over."""
        self._fans.forget(workflow_id)

    # -- the step -------------------------------------------------------------------------------

    async def _take(
        self, run: Run, lease: Lease, state: asl.State, visit: asl.Visit, perform: Perform
    ) -> _Taken:
        """Step the state until it wants something that is committed."""
        event = await happened(self._store, lease, state)
        if takes_callback(state) and not run.callback_secret and isinstance(event, asl.Entered):
            event = asl.TaskFailed(*_NO_TOKENS)
        taken = _Taken(
            event
            if isinstance(event, asl.Failure)
            else await self._step_apart(state, visit, event),
            _trouble(event),
        )
        while isinstance(taken.effect, asl.ReadItems):
            read = await self._objects.read(taken.effect)
            taken.effect = await self._step_apart(state, visit, read)
        if isinstance(taken.effect, asl.RunTask):
            await self._work(run, lease, state, taken, taken.effect, visit, perform)
        if isinstance(taken.effect, asl.FanOut) and taken.effect.count == 0:
            taken.effect = self._step(state, visit, asl.Joined([], {}, []))
        if isinstance(taken.effect, asl.WriteResults):
            written = await self._objects.write(taken.effect)
            taken.effect = self._step(state, visit, written)
        return taken

    async def _work(
        self,
        run: Run,
        lease: Lease,
        state: asl.State,
        taken: _Taken,
        effect: asl.RunTask,
        visit: asl.Visit,
        perform: Perform,
    ) -> None:
        """Let the work of a Task be done, and step its answer; one that waits for its token has
        none unless the work fails."""
        arguments = effect.arguments
        limits = work_limits(effect)
        if limits != lease.limits:
            # They depend on what was not known when the state was entered.
            renewed = await self._store.renew(lease, limits=limits)
            if isinstance(renewed, Refusal):
                taken.refused = renewed
                return
        token = None
        kept = arguments
        if effect.waits_for_token:
            token = run.token(lease.path, lease.visit, lease.try_)
            kept = without_token(arguments, token)
        try:
            if arguments is not lease.input:
                taken.effective = payload.encode(kept)
        except BadDocument as error:
            taken.effect = self._unstorable(state, visit, error)
            return
        task = Task(run, lease, state, arguments, effect.timeout_s, effect.heartbeat_s, token)
        taken.outcome = await perform(task)
        if token is not None and isinstance(taken.outcome, Succeeded):
            return
        answer = _answered(taken.outcome)
        taken.trouble = _trouble(answer)
        taken.effect = self._step(state, visit, answer)

    async def _step_apart(self, state: asl.State, visit: asl.Visit, event: asl.Event) -> asl.Effect:
        """``_step``; of a Map that parses, batches or writes up many items not on the event loop,
        which other states need."""
        heavy = isinstance(state, asl.MapState) and (state.reader or state.batcher or state.writer)
        if not heavy:
            return self._step(state, visit, event)
        return await self._objects.apart(lambda: self._step(state, visit, event))

    def _step(self, state: asl.State, visit: asl.Visit, event: asl.Event) -> asl.Effect:
        return asl.step(state, visit, event, self._rng, limit=self._limit)

    def _unstorable(self, state: asl.State, visit: asl.Visit, error: BadDocument) -> asl.Effect:
        """What the state does when its result cannot be stored. That is permanent, so nothing is
        tried again; a Catch may match."""
        spent = {index: retrier.max_attempts for index, retrier in enumerate(state.retriers)}
        told = asl.ResultRefused(error_name(error), str(error))
        return self._step(state, replace(visit, retries=spent), told)

    async def _visit(self, run: Run, lease: Lease, state: asl.State) -> asl.Visit:
        variables = dict(await self._fans.variables(run, lease))
        # How long a Wait may take counts from when it was entered.
        if not run.uses_context and state.type != "Wait":
            return asl.Visit(lease.input, {}, variables, lease.retries)
        token = None
        if (state.resource or "").endswith(WITH_TOKEN):
            token = run.token(lease.path, lease.visit, lease.try_)
        context = state_context(
            await self._fans.around(run, lease.path, lease.round) if run.uses_context else {},
            state,
            entered_at=lease.times.get("entered") or 0,
            retries=lease.retries,
            token=token,
        )
        identity = await lease_identity(self._store, run, lease, state) if run.uses_context else ""
        return asl.Visit(lease.input, context, variables, lease.retries, None, identity)

    # -- the commit -----------------------------------------------------------------------------

    async def _conclude(
        self, step: Step, effect: asl.Effect, effective: Payload | None, in_place: bool
    ) -> Committed | Refusal:
        """Commit ``effect``; a run that used up its limits fails instead."""
        metrics = await self._spent(step.lease, step.outcome)
        if metrics is not None:
            step = replace(step, metrics=metrics)
        commit = commit_of(step, effect)
        commit = replace(commit, effective_input=effective) if effective else commit
        answer = await self._say(step.lease, commit, in_place)
        if isinstance(answer, Refusal) and answer.code == "limit_exceeded":
            failure = asl.Failure(*_used_up(answer))
            commit = commit_of(replace(step, trouble=None), failure)
            return await self._say(step.lease, commit, in_place)
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

    async def _open_frame(
        self, run: Run, lease: Lease, kept: Kept, in_place: bool
    ) -> Committed | Refusal:
        """Enter the first state of an iteration or branch."""
        with kept:
            opening = await self._frames.open(run, lease)
        answer = await self._say(lease, opening.commit, in_place)
        if isinstance(answer, Committed):
            self._frames.opened(run, lease, opening)
        if isinstance(answer, Refusal) and answer.code == "limit_exceeded":
            return await self._say(lease, failed_frame(lease, *_used_up(answer)), in_place)
        return answer


def _used_up(refusal: Refusal) -> tuple[str, str]:
    """Error and cause of a run that reached one of its limits."""
    return "DCF.LimitExceeded", f"the run used up its {refusal.detail[0]}"


def _trouble(event: asl.Event | asl.Failure) -> Failure | None:
    """What a state was told had failed, if anything."""
    if isinstance(event, (asl.TaskFailed, asl.ChildFailed, asl.ResultRefused)):
        return Failure(event.error, event.cause)
    return None


def _answered(outcome: Outcome) -> asl.Event:
    if isinstance(outcome, Succeeded):
        return asl.TaskSucceeded(outcome.result)
    return asl.TaskFailed(outcome.error, outcome.cause)


def _spoilt(outcome: Outcome | None, error: BadDocument) -> Outcome | None:
    """The outcome of work whose result cannot be stored: it failed, and cost what it cost."""
    if outcome is None:
        return None
    try:
        payload.to_text(outcome.metrics)
    except BadDocument:
        return Failed(error_name(error), str(error))
    return Failed(error_name(error), str(error), outcome.metrics)
