"""A commit as its script takes it: the request, the JSON texts after it, and what is stored
first."""

from __future__ import annotations

from typing import Any

from control_plane import payload
from control_plane.lease import Commit
from control_plane.payload import Payload
from control_plane.run_transitions import state_spec


def terms(commit: Commit) -> dict[str, Any]:
    """What the request says of ``commit`` itself."""
    said: dict[str, Any] = {"outcome": commit.outcome, "ends": commit.ends}
    if commit.enter is not None:
        enter = commit.enter
        said["next"] = state_spec(enter.path, enter.type, enter.limits, enter.callback)
    if commit.wait is not None:
        said["wait"] = commit.wait.kind
        said["wait_until"] = commit.wait.until_ms
        said["delay"] = commit.wait.delay_ms
        said["retries"] = commit.wait.retries
    if commit.fan is not None:
        fan = commit.fan
        said["wait"] = "join"
        said["join"] = {"n": fan.n, "window": fan.window, "fail_limit": fan.fail_limit}
    return said


def texts(commit: Commit) -> list[str]:
    """What a commit says as the script takes it, "" for what it does not say; most say only the
    first few, and what is left out at the end costs nothing on the way."""
    enter, question = commit.enter, commit.question
    said = [
        commit.output.to_text() if commit.output else "",
        enter.input.stored if enter else "",
        payload.to_text(commit.event),
        payload.to_text(commit.failure.to_json()) if commit.failure else "",
        payload.to_text(commit.metrics) if commit.metrics else "",
        commit.fan.fan.stored if commit.fan else "",
        commit.effective_input.stored if commit.effective_input else "",
        enter.variables.stored if enter and enter.variables else "",
        payload.to_text(question.record) if question else "",
        payload.to_text(commit.model_selection) if commit.model_selection else "",
    ]
    while not said[-1]:
        said.pop()
    return said


def payloads(commit: Commit) -> list[Payload]:
    """What ``commit`` refers to: a blob of each has to be there before."""
    parts = []
    if commit.output is not None:
        parts.append(commit.output.data)
    if commit.enter is not None:
        parts.append(commit.enter.input)
        if commit.enter.variables is not None:
            parts.append(commit.enter.variables)
    if commit.fan is not None:
        parts.append(commit.fan.fan)
    if commit.effective_input is not None:
        parts.append(commit.effective_input)
    if commit.question is not None:
        parts.extend(commit.question.parts)
    return parts
