"""Choreography: what ``asl.step`` wants becomes one commit. Whoever finishes a state does this;
there is no orchestrator.

Flow states need no agent: the holder of the lease advances them alone. A Task is handed to
``perform`` and its outcome is stepped again.
"""

from __future__ import annotations

import logging
import random
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from control_plane import (
    BadDocument,
    Commit,
    Committed,
    Failure,
    Lease,
    MissingBlob,
    Payload,
    Refusal,
    Store,
    patiently,
    payload,
    split_path,
)
from dcf import asl
from dcf.workflow.asking import approval_wait, escalation
from dcf.workflow.damage import told_damage
from dcf.workflow.effect_commit import (
    Step,
    commit_of,
    error_name,
    failed_state,
)
from dcf.workflow.fans import Fans
from dcf.workflow.frame_opening import FrameOpening, failed_frame
from dcf.workflow.objects import Objects, no_objects
from dcf.workflow.run import Run
from dcf.workflow.stepping import Stepping
from dcf.workflow.tally import add_metrics
from dcf.workflow.task import AwaitingApproval, Failed, Outcome, Perform
from dcf.workflow.task_approval import NamedApprover, named_approver

log = logging.getLogger(__name__)

Kept = AbstractContextManager[object]
"""Keeps a lease while it is entered; it may raise when the lease was lost."""

_UNREADABLE = "States.Runtime"


class Choreographer:
    """Advances leased states.

    ``rng`` is for jitter and the intrinsic functions that ask for it, ``objects`` for ItemReader
    and ResultWriter. With ``aws_limits`` a payload over 262,144 bytes is
    ``States.DataLimitExceeded``, as on AWS. ``approver`` gives those whom AgentBindings name.
    """

    def __init__(
        self,
        store: Store,
        *,
        rng: random.Random,
        objects: Objects | None = None,
        aws_limits: bool = False,
        approver: NamedApprover = named_approver,
    ) -> None:
        limit = asl.PAYLOAD_LIMIT if aws_limits else None
        self._store = store
        self._fans = Fans(store)
        self._frames = FrameOpening(self._fans, rng, limit)
        self._stepping = Stepping(store, self._fans, objects or no_objects(), approver, rng, limit)

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
        if lease.damage is not None:
            return await self.refuse(lease, lease.damage)
        try:
            return await self._advance(run, lease, perform, kept or nullcontext(), in_place)
        except MissingBlob as damage:
            if damage.fields["workflow_id"] != lease.workflow_id:
                raise
            return await self.refuse(lease, damage)

    async def _advance(
        self, run: Run, lease: Lease, perform: Perform, kept: Kept, in_place: bool
    ) -> Committed | Refusal:
        if lease.kind == "frame":
            return await self._open_frame(run, lease, kept, in_place)
        if (asked := escalation(lease)) is not None:
            return await self._say(lease, asked, in_place)
        state = run.machine.locate(list(split_path(lease.path)))
        with kept:
            seen = await patiently(lease, lambda: self._stepping.look(run, lease, state))
            taken = await self._stepping.take(run, lease, state, seen, perform)
        if taken.refused is not None:
            return taken.refused
        step = Step(run, lease, seen.visit, taken.outcome, None, taken.trouble)
        try:
            return await self._conclude(step, taken.effect, taken.effective, in_place)
        except BadDocument as error:
            refused = error
        trouble = Failure(error_name(refused), str(refused))
        step = replace(step, outcome=_spoilt(taken.outcome, refused), trouble=trouble)
        try:
            effect = self._stepping.unstorable(state, seen.visit, refused)
            return await self._conclude(step, effect, taken.effective, in_place)
        except BadDocument as error:
            # What Catch makes of it cannot be stored either.
            failure = asl.Failure(error_name(error), str(error))
            return await self._conclude(
                replace(step, trouble=None), failure, taken.effective, in_place
            )

    async def refuse(
        self, lease: Lease, why: asl.DefinitionError | MissingBlob
    ) -> Committed | Refusal:
        """Fail what ``lease`` is for: something of its run cannot be read here. No Catch sees that:
        it is nothing that the work came to, and where the definition is gone no Catch is known."""
        cause = str(why)
        if isinstance(why, MissingBlob):
            cause = await patiently(lease, lambda: told_damage(self._store, lease, why))
            log.error("%s of %s fails: %s", lease.path, lease.workflow_id, cause)
        failure = asl.Failure(_UNREADABLE, cause)
        if lease.kind == "frame":
            return await self._say(lease, failed_frame(lease, _UNREADABLE, cause), False)
        return await self._say(lease, failed_state(lease, failure), False)

    def forget(self, workflow_id: str) -> None:
        """The run is over."""
        self._fans.forget(workflow_id)

    # -- the commit -----------------------------------------------------------------------------

    async def _conclude(
        self, step: Step, effect: asl.Effect, effective: Payload | None, in_place: bool
    ) -> Committed | Refusal:
        """Commit ``effect``; a run that used up its limits fails instead."""
        metrics = await self._spent(step.lease, step.outcome)
        if metrics is not None:
            step = replace(step, metrics=metrics)
        outcome = step.outcome
        if isinstance(outcome, AwaitingApproval):
            commit = replace(approval_wait(step.lease, outcome), metrics=metrics)
        else:
            commit = commit_of(step, effect)
        commit = replace(commit, effective_input=effective) if effective else commit
        if outcome is not None and outcome.model_selection is not None:
            commit = replace(commit, model_selection=outcome.model_selection)
        answer = await self._say(step.lease, commit, in_place)
        if isinstance(answer, Refusal) and answer.code == "limit_exceeded":
            failure = asl.Failure(*_used_up(answer))
            commit = commit_of(replace(step, trouble=None), failure)
            return await self._say(step.lease, commit, in_place)
        return answer

    async def _spent(self, lease: Lease, outcome: Outcome | None) -> dict[str, Any] | None:
        """What the visit has cost: this try's metrics, those of the tries before it, and those of
        its work before it waited for an approval."""
        if outcome is None or not outcome.metrics:
            return None
        if not lease.retries and lease.approval is None:
            return dict(outcome.metrics)
        found = await patiently(lease, lambda: self._store.state(lease.workflow_id, lease.path))
        return add_metrics(found.metrics or {}, outcome.metrics)

    async def _say(self, lease: Lease, commit: Commit, in_place: bool) -> Committed | Refusal:
        """Commit; a server that is away is waited for."""
        commit_id = self._store.new_id()
        return await patiently(
            lease,
            lambda: self._store.commit(lease, commit, commit_id=commit_id, in_place=in_place),
        )

    async def _open_frame(
        self, run: Run, lease: Lease, kept: Kept, in_place: bool
    ) -> Committed | Refusal:
        """Enter the first state of an iteration or branch."""
        with kept:
            opening = await patiently(lease, lambda: self._frames.open(run, lease))
        answer = await self._say(lease, opening.commit, in_place)
        if isinstance(answer, Committed):
            self._frames.opened(run, lease, opening)
        if isinstance(answer, Refusal) and answer.code == "limit_exceeded":
            return await self._say(lease, failed_frame(lease, *_used_up(answer)), in_place)
        return answer


def _used_up(refusal: Refusal) -> tuple[str, str]:
    """Error and cause of a run that reached one of its limits."""
    return "DCF.LimitExceeded", f"the run used up its {refusal.detail[0]}"


def _spoilt(outcome: Outcome | None, error: BadDocument) -> Outcome | None:
    """The outcome of work whose result cannot be stored: it failed, and cost what it cost."""
    if outcome is None:
        return None
    try:
        payload.to_text(outcome.metrics)
    except BadDocument:
        return Failed(error_name(error), str(error))
    return Failed(error_name(error), str(error), outcome.metrics)
