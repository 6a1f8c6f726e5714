"""``dcf callback``."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from dcf.cli.answer import Answer
from dcf.cli.input_source import read_input
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.problem import Problem
from dcf.workflow import beat_task, fail_task, succeed_task


@dataclass(frozen=True, slots=True)
class CallbackOrder:
    """The command line of ``dcf callback``; a ``token`` of "-" is read from standard input."""

    token: str
    result: str | None
    error: str | None
    cause: str
    heartbeat: bool


async def call_back(order: CallbackOrder, settings: Settings, screen: Screen) -> Answer:
    """Answer the Task, or show that its work goes on.

    Raises BadInput, UnknownTaskToken, TaskSettled and TaskExpired.
    """
    said = [order.result is not None, order.error is not None, order.heartbeat]
    if sum(said) != 1 or (order.cause and order.error is None):
        message = (
            "one of --result, --error and --heartbeat is needed, and --cause goes with --error"
        )
        hint = "as in `dcf callback TOKEN --result '{}'`"
        raise BadInput([Problem("CLI_CALLBACK", message, hint=hint, file="command line")])
    if order.token == "-" and order.result == "-":
        message = "the token and --result cannot both come from standard input"
        hint = "give --result a file or the JSON itself"
        raise BadInput([Problem("CLI_CALLBACK", message, hint=hint, file="command line")])
    token = sys.stdin.read().strip() if order.token == "-" else order.token
    if order.error == "":
        message = "--error names the error, and is empty"
        hint = "as in --error Bank.Busy; with nothing to say, --error States.TaskFailed"
        raise BadInput([Problem("CLI_CALLBACK", message, hint=hint, file="--error")])
    given = read_input(order.result, "--result")
    if given.problems:
        raise BadInput(given.problems)
    address = await find_redis(settings, screen)
    async with open_store(address) as store:
        if order.heartbeat:
            claim, done = await beat_task(store, token), "heartbeat"
        elif order.error is not None:
            claim = await fail_task(store, token, order.error, order.cause)
            done = "failed"
        else:
            claim, done = await succeed_task(store, token, given.value), "succeeded"
    fields = {"workflow_id": claim.workflow_id, "state": claim.path, "callback": done}
    told = {
        "heartbeat": "has a fresh heartbeat",
        "failed": "was told that it failed",
        "succeeded": "has its result",
    }
    return Answer(fields, [f"{claim.path} of {claim.workflow_id} {told[done]}."], "ok")
