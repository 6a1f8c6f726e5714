"""Amazon States Language, pure: parse and validate definitions, step states, no I/O, no clock.

``parse`` turns a definition into a StateMachine; ``validate`` lists every problem instead.
``step`` says what one state wants after one event. ``interpret`` drives a whole machine on a
virtual clock. Payloads are JSON values and are never mutated.
"""

from __future__ import annotations

from dcf.asl.definition import parse, validate
from dcf.asl.effect import (
    Effect,
    Failure,
    FanOut,
    Finish,
    ObjectRef,
    ReadItems,
    RetryAfter,
    RunTask,
    Transition,
    WaitFor,
    WaitUntil,
    WriteResults,
)
from dcf.asl.errors import AslError, DefinitionError, EvaluationError, UnknownState
from dcf.asl.execution import Answer, Execution, TaskCall, TraceEntry, VirtualClock
from dcf.asl.interpreter import interpret
from dcf.asl.machine import StateMachine
from dcf.asl.payload import JSON
from dcf.asl.source import locate, place, read_json
from dcf.asl.state import (
    ChoiceState,
    FailState,
    MapState,
    ParallelState,
    PassState,
    State,
    SucceedState,
    TaskState,
    WaitState,
)
from dcf.asl.step import UnexpectedEvent, step
from dcf.asl.timestamp import format_timestamp, parse_timestamp
from dcf.asl.visit import (
    ChildFailed,
    Entered,
    Event,
    ItemsRead,
    ItemsUnreadable,
    Joined,
    ResultsUnwritable,
    ResultsWritten,
    TaskFailed,
    TaskSucceeded,
    TimerFired,
    Visit,
)
from dcf.asl.work_steps import item_input

__all__ = [
    "JSON",
    "Answer",
    "AslError",
    "ChildFailed",
    "ChoiceState",
    "DefinitionError",
    "Effect",
    "Entered",
    "EvaluationError",
    "Event",
    "Execution",
    "FailState",
    "Failure",
    "FanOut",
    "Finish",
    "ItemsRead",
    "ItemsUnreadable",
    "Joined",
    "MapState",
    "ObjectRef",
    "ParallelState",
    "PassState",
    "ReadItems",
    "ResultsUnwritable",
    "ResultsWritten",
    "RetryAfter",
    "RunTask",
    "State",
    "StateMachine",
    "SucceedState",
    "TaskCall",
    "TaskFailed",
    "TaskState",
    "TaskSucceeded",
    "TimerFired",
    "TraceEntry",
    "Transition",
    "UnexpectedEvent",
    "UnknownState",
    "VirtualClock",
    "Visit",
    "WaitFor",
    "WaitState",
    "WaitUntil",
    "WriteResults",
    "format_timestamp",
    "interpret",
    "item_input",
    "locate",
    "parse",
    "parse_timestamp",
    "place",
    "read_json",
    "step",
    "validate",
]
