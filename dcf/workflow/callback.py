"""Answering a Task from outside by its task token."""

from __future__ import annotations

from typing import NoReturn

from control_plane import JSON, BadName, Failure, Refusal, Store, UnknownRun, check_workflow_id
from dcf.asl import HEARTBEAT_TIMEOUT, TIMEOUT
from dcf.workflow.errors import TaskExpired, TaskSettled, UnknownTaskToken
from dcf.workflow.task_token import TokenClaim, read_token


async def succeed_task(store: Store, token: str, result: JSON) -> TokenClaim:
    """The Task that ``token`` was given for succeeded with ``result``; what the token names.

    Raises UnknownTaskToken, TaskSettled, TaskExpired, BadDocument.
    """
    return await _answer(store, token, {"result": result})


async def fail_task(
    store: Store, token: str, error: str | None, cause: str | None = ""
) -> TokenClaim:
    """The Task failed with an error name that Retry and Catch can match. Raises as above."""
    return await _answer(store, token, Failure(error, cause).to_json())


async def beat_task(store: Store, token: str) -> TokenClaim:
    """The work goes on: ``HeartbeatSeconds`` count anew. Raises as above."""
    claim = await _check(store, token)
    refusal = await store.beat(claim.workflow_id, claim.path, visit=claim.visit, try_=claim.try_)
    if refusal is not None:
        await _raise(store, refusal, claim)
    return claim


async def _answer(store: Store, token: str, value: JSON) -> TokenClaim:
    claim = await _check(store, token)
    refusal = await store.signal(
        claim.workflow_id,
        claim.path,
        visit=claim.visit,
        try_=claim.try_,
        event="callback",
        value=value,
    )
    if refusal is not None:
        await _raise(store, refusal, claim)
    return claim


async def _check(store: Store, token: str) -> TokenClaim:
    claim = read_token(token)
    if claim is None:
        raise UnknownTaskToken("this is no task token")
    try:
        run = await store.run(check_workflow_id(claim.workflow_id))
    except (UnknownRun, BadName):
        raise UnknownTaskToken("no run here gave out this task token") from None
    if not claim.is_signed_with(run.callback_secret):
        raise UnknownTaskToken("no run here gave out this task token")
    return claim


async def _raise(store: Store, refusal: Refusal, claim: TokenClaim) -> NoReturn:
    where = f"{claim.path} of {claim.workflow_id}"
    late = await _lateness(store, claim)
    if late:
        raise TaskExpired(f"{where} takes no answer any more: this came too late, {late}")
    if refusal.code in ("cancelled", "closed", "unknown_state"):
        raise TaskExpired(f"{where} takes no answer any more: its run, or the join above it, ended")
    if refusal.code == "expired":
        raise TaskExpired(f"{where} takes no answer any more: its time limit has passed")
    raise TaskSettled(f"{where} was answered before, or this try of it is over")


async def _lateness(store: Store, claim: TokenClaim) -> str:
    """Which time limit ended the try that ``claim`` names; "" where that was something else, or is
    not known any more. A missed heartbeat that nothing names is a ``States.Timeout`` like others.
    """
    document = (await store.states(claim.workflow_id, [claim.path])).get(claim.path)
    if document is None or document.visit != claim.visit:
        return ""
    # The error is of the last try that ended: this one when it was the last, or while the next one
    # is open.
    last_over = document.try_ - 1 if document.is_open else document.try_
    error = document.error.error if document.error and last_over == claim.try_ else None
    event = document.event if document.try_ == claim.try_ else None
    if error == HEARTBEAT_TIMEOUT or event == "heartbeat":
        return "no heartbeat had come within HeartbeatSeconds"
    if error == TIMEOUT or event == "timeout":
        return "a time limit (TimeoutSeconds, HeartbeatSeconds) had passed"
    return ""
