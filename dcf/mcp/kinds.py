"""Kinds of parameters that many tools share."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from control_plane import (
    BadName,
    check_session_id,
    check_workflow_id,
    encode_name,
    split_path,
)
from dcf.mcp.help import Obvious

_LONGEST_NAME = 256


def _run_id(given: str) -> str:
    try:
        return check_workflow_id(given)
    except BadName as error:
        raise ValueError(str(error)) from error


def _session_id(given: str) -> str:
    try:
        return check_session_id(given)
    except BadName as error:
        raise ValueError(str(error)) from error


def _path(given: str) -> str:
    """A state's path; a bare name that is no path is encoded as one."""
    if not given:
        raise ValueError("is empty")
    try:
        split_path(given)
    except BadName:
        return encode_name(given)
    return given


def _name(given: str) -> str:
    if not given.strip() or len(given) > _LONGEST_NAME or not given.isprintable():
        raise ValueError(f"must be 1 to {_LONGEST_NAME} printable characters")
    return given


RunId = Annotated[str, Obvious("Id of the run."), AfterValidator(_run_id)]
_STATE = "State, as Review or Fan[2]/Fetch."
StatePath = Annotated[str, _STATE, AfterValidator(_path)]
HeldState = Annotated[str, Obvious(_STATE), AfterValidator(_path)]
"""The state of a lease: who has one named it when it was acquired."""
Owner = Annotated[str, "Who you are: your agent id.", AfterValidator(_name)]
LeaseToken = Annotated[str, Obvious("Token of your lease.")]
Seconds = Annotated[int | None, Obvious("Seconds the lease lasts."), Field(ge=1, le=86_400)]

SessionId = Annotated[str, Obvious("Id of the session."), AfterValidator(_session_id)]
OtherwiseKnown = Annotated[
    str | None, Obvious("Id of the session; needed where others have such a companion or task.")
]
"""The session, where companion or task tell which it is."""
CompanionId = Annotated[str, Obvious("Id of the companion.")]
TaskId = Annotated[str, Obvious("Id of the task.")]
ConductorId = Annotated[str, Obvious("Who conducts the session.")]
By = Annotated[str | None, Obvious("Who conducts the session, if several do.")]
Reason = Annotated[str | None, Obvious("Why, for the history.")]
