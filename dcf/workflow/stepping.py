"""Stepping a leased state until it wants something that is committed: what happened to it, what it
reads and writes beside Redis, the work of a Task."""

from __future__ import annotations

import random
from dataclasses import dataclass

from control_plane import BadDocument, Failure, Lease, Payload, Refusal, Store, patiently, payload
from dcf import asl
from dcf.workflow.effect_commit import takes_callback
from dcf.workflow.fans import Fans
from dcf.workflow.happening import happened
from dcf.workflow.identity import lease_identity
from dcf.workflow.limits import work_limits
from dcf.workflow.manual_outcome import manual_outcome
from dcf.workflow.objects import Objects
from dcf.workflow.run import Run, state_context
from dcf.workflow.task import AwaitingApproval, Failed, Outcome, Perform, Succeeded, Task
from dcf.workflow.task_approval import NamedApprover, approved, unapproved
from dcf.workflow.task_token import WITH_TOKEN, without_token

_NO_TOKENS = (
    "States.Runtime",
    "the run has no secret to sign task tokens with: it was submitted by a version that did not "
    "know .waitForTaskToken; submit it again",
)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a step begins with."""

    visit: asl.Visit
    event: asl.Event | asl.Failure


@dataclass(slots=True)
class Taken:
    """How far a step has come."""

    effect: asl.Effect
    trouble: Failure | None
    outcome: Outcome | None = None
    effective: Payload | None = None
    refused: Refusal | None = None


class Stepping:
    """Steps states of any number of runs. Arguments are as the ``Choreographer`` takes them;
    ``limit`` is how many bytes a payload may have (None: the language's own limit)."""

    def __init__(
        self,
        store: Store,
        fans: Fans,
        objects: Objects,
        approver: NamedApprover,
        rng: random.Random,
        limit: int | None,
    ) -> None:
        self._store = store
        self._fans = fans
        self._objects = objects
        self._approver = approver
        self._rng = rng
        self._limit = limit

    async def look(self, run: Run, lease: Lease, state: asl.State) -> Seen:
        """What ``state`` sees, and what happened to it."""
        return Seen(await self._visit(run, lease, state), await happened(self._store, lease, state))

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

    async def take(
        self, run: Run, lease: Lease, state: asl.State, seen: Seen, perform: Perform
    ) -> Taken:
        """Step ``state`` until it wants something that is committed."""
        visit, event = seen.visit, seen.event
        if takes_callback(state) and not run.callback_secret and isinstance(event, asl.Entered):
            event = asl.TaskFailed(*_NO_TOKENS)
        taken = Taken(
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

    def unstorable(self, state: asl.State, visit: asl.Visit, error: BadDocument) -> asl.Effect:
        """What the state does when its result cannot be stored."""
        return self._step(state, *asl.unstorable(state, visit, error))

    async def _work(
        self,
        run: Run,
        lease: Lease,
        state: asl.State,
        taken: Taken,
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
            renewed = await patiently(lease, lambda: self._store.renew(lease, limits=limits))
            if isinstance(renewed, Refusal):
                taken.refused = renewed
                return
        token = None
        kept = arguments
        if effect.waits_for_token:
            token = run.token(lease.path, lease.visit, lease.try_)
            kept = without_token(arguments, token)
        elif lease.approval is not None and lease.given is not None:
            # What was approved is what was asked for: expressions may make something else of it.
            given = lease.given
            arguments = kept = await patiently(
                lease, lambda: self._store.value(lease.workflow_id, given)
            )
        try:
            if arguments is not lease.input:
                taken.effective = payload.encode(kept)
        except BadDocument as error:
            taken.effect = self.unstorable(state, visit, error)
            return
        task = Task(run, lease, state, arguments, effect.timeout_s, effect.heartbeat_s, token)
        if state.manual is not None:
            taken.outcome = manual_outcome(task, state.manual, self._approver)
        else:
            taken.outcome = unapproved(task, self._approver) or approved(task)
            taken.outcome = taken.outcome or await perform(task)
        if isinstance(taken.outcome, AwaitingApproval):
            return
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


def _trouble(event: asl.Event | asl.Failure) -> Failure | None:
    """What a state was told had failed, if anything."""
    if isinstance(event, (asl.TaskFailed, asl.ChildFailed, asl.ResultRefused)):
        return Failure(event.error, event.cause)
    return None


def _answered(outcome: Succeeded | Failed) -> asl.Event:
    if isinstance(outcome, Succeeded):
        return asl.TaskSucceeded(outcome.result)
    return asl.TaskFailed(outcome.error, outcome.cause)
