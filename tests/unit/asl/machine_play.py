"""Executions of generated definitions: every chance that is taken depends on a seed."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from dcf.asl import (
    Answer,
    Execution,
    MemoryObjects,
    TaskCall,
    TaskFailed,
    TaskSucceeded,
    VirtualClock,
    interpret,
    parse,
)

NEVER_ANSWERED = "a task never answers and nothing limits its time"
TOO_LATE = "the execution goes on after the year 9999"


def is_end(execution: Execution) -> bool:
    """Whether this is one of the documented ends."""
    if execution.status == "SUCCEEDED":
        return execution.error is None
    if execution.status == "FAILED":
        return execution.cause is None or isinstance(execution.cause, str)
    # Out of time: the machine's own limit, or a task that nobody answers and nothing limits.
    causes = (None, NEVER_ANSWERED, TOO_LATE)
    return execution.error == "States.Timeout" and execution.cause in causes


def unreliable(seed: int) -> Callable[[TaskCall], Answer | TaskSucceeded | TaskFailed]:
    """Tasks that answer, late or at once, fail with various names, or never answer."""
    chance = Random(seed)
    names = [None, "", "E", "States.Timeout", "States.TaskFailed", "States.Runtime", "\ud800", "ü"]

    def call(task: TaskCall) -> Answer | TaskSucceeded | TaskFailed:
        drawn = chance.random()
        if drawn < 0.2:
            return TaskFailed(chance.choice(names), chance.choice([None, "why"]))
        if drawn < 0.25:
            return Answer(None, heartbeats_s=(1.0, 2.0) if drawn < 0.23 else ())
        if drawn < 0.4:
            return Answer(TaskSucceeded({"n": 1, "list": [1]}), after_s=chance.random() * 10)
        return TaskSucceeded(task.arguments)

    return call


def objects() -> MemoryObjects:
    """What an ItemReader of a generated definition may find."""
    found = {"b/k.json": b'[{"a": 1}, 2, [3]]', "b/k.jsonl": b'{"a": 1}\n2\n\n[3]\n'}
    return MemoryObjects({**found, "b/k.csv": "a,b\n1,é\n2\n".encode()})


def play(definition: dict[str, Any], data: Any, seed: int, *, max_steps: int = 400) -> Execution:
    """The execution of ``definition`` whose chances are ``seed``."""
    return interpret(
        parse(definition),
        data,
        call_task=unreliable(seed),
        clock=VirtualClock(1_700_000_000.0),
        rng=Random(seed),
        aws_limits=seed % 2 == 0,
        max_steps=max_steps,
        objects=objects(),
    )
