"""Checks of a session that is over: what became of each order, and who had it when."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from control_plane import RunDocument
from dcf.sessions import SessionTask
from dcf.simulation.agents import Execution
from dcf.simulation.host_life import Doing
from dcf.simulation.violation import Violation

_HOW = {"succeeded": "succeeded", "failed": "failed", "timed_out": "failed"}
"""How a task ends whose run ends so. Who cancels one is heard unless its run was over by then."""


@dataclass(frozen=True, slots=True)
class Left:
    """What a session left behind: the ids of orders that it took, what became of one that came
    after its end, its state, its tasks and their runs by id, and its history."""

    accepted: Sequence[str]
    late: str
    state: str
    tasks: Mapping[str, SessionTask]
    events: Sequence[Mapping[str, Any]]
    runs: Mapping[str, RunDocument]


def check_session(
    left: Left, does: Mapping[str, Doing], ledger: Sequence[Execution]
) -> Iterator[Violation]:
    """Every breach of the guarantee about orders."""
    for seen in (*_answers(left), *_holders(left), *_work(left, does, ledger)):
        yield Violation("orders", "", seen)


def _answers(left: Left) -> Iterator[str]:
    told = Counter((event["type"], event.get("task_id")) for event in left.events)
    for task_id in left.accepted:
        counts = told["TaskDelegated", task_id], told["TaskSettled", task_id]
        if task_id not in left.tasks:
            yield f"{task_id} was taken, and is lost"
        elif counts != (1, 1) or left.tasks[task_id].is_open:
            yield f"{task_id} was taken and answered {counts} times: {left.tasks[task_id]}"
    if extra := left.tasks.keys() - set(left.accepted):
        yield f"nobody ordered {sorted(extra)}"
    if left.late != "refused":
        yield f"an order that came after the end was taken, and is {left.late}"
    kinds = [event["type"] for event in left.events]
    if "TaskDelegated" in kinds[kinds.index("SessionCompleting") :] or left.state != "completed":
        yield f"it is {left.state}, and took orders while it ended: {kinds}"


def _holders(left: Left) -> Iterator[str]:
    """A companion has one task at a time, a task one companion."""
    has: dict[str, str] = {}
    for event in left.events:
        kind, task_id = event["type"], str(event.get("task_id"))
        if kind == "TaskAssigned":
            companion_id = event["companion_id"]
            if task_id in has.values() or companion_id in has:
                yield f"{event}, while {has}"
            has[companion_id] = task_id
        elif kind in ("TaskTakenAway", "TaskSettled"):
            has = {who: what for who, what in has.items() if what != task_id}


def _work(left: Left, does: Mapping[str, Doing], ledger: Sequence[Execution]) -> Iterator[str]:
    done: dict[str, list[Execution]] = defaultdict(list)
    for execution in ledger:
        done[execution.run].append(execution)
    for task_id, executions in done.items():
        if len({one.key for one in executions}) > 1:
            yield f"{task_id} was tried again under another key: {executions}"
        if len({one.fence for one in executions}) < len(executions):
            yield f"{task_id} was done twice under one lease: {executions}"
    for task_id, task in left.tasks.items():
        run = left.runs.get(task_id)
        ended = "none" if run is None else run.status
        if task.status != _HOW.get(ended, task.status):
            yield f"{task_id} is {task.status}, and its run {ended}"
        if task.status == "succeeded" and (ended != "succeeded" or does[task_id].fails):
            yield f"{task_id} succeeded, and its run {ended}: {does[task_id]}"
        if task.status == "succeeded" and task.summary != f"{task_id} is done":
            yield f"{task_id} was answered {task.summary!r}"
        if task.status == "succeeded" and not done[task_id]:
            yield f"{task_id} succeeded, and nobody did it"
