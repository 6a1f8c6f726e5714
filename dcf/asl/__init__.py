"""Amazon States Language, pure: parse and validate definitions, step states; no I/O.

``parse`` turns a definition into a StateMachine; ``validate`` lists every problem instead, and
``rejection`` and ``validation_answer`` say what AWS would.
``step`` says what one state wants after one event. ``interpret`` drives a whole machine on a
virtual clock; ``run_state`` runs one state alone. Payloads are JSON values and are never mutated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.asl.checks.aws_wording import Diagnostic
    from dcf.asl.checks.rejection import Rejection, diagnostics, rejection, validation_answer
    from dcf.asl.checks.variable_references import variable_references
    from dcf.asl.context import child_context, iteration_context
    from dcf.asl.context_policy import ContextPolicy
    from dcf.asl.definition import MachineType, parse, validate
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
    from dcf.asl.errors import (
        HEARTBEAT_TIMEOUT,
        TIMEOUT,
        AslError,
        DefinitionError,
        EvaluationError,
        ExpressionError,
        UnknownState,
    )
    from dcf.asl.machine import StateMachine
    from dcf.asl.manual_task import MANUAL_TASK_FAILED, ManualTask
    from dcf.asl.maps import MemoryObjects, ObjectStore, read_items, write_results
    from dcf.asl.maps.map_items import item_input
    from dcf.asl.maps.map_run import map_run
    from dcf.asl.memory_policy import MEMORY, MemoryPolicy
    from dcf.asl.payload import JSON, PAYLOAD_LIMIT, size
    from dcf.asl.printing import dump
    from dcf.asl.reading.fields import closest_hint
    from dcf.asl.reading.source import (
        MAX_DEFINITION,
        locate,
        place,
        read_json,
        too_large,
        with_others,
    )
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
    from dcf.asl.storage import refused, unstorable
    from dcf.asl.timestamp import format_timestamp, parse_timestamp
    from dcf.asl.trial.execution import Answer, Execution, TaskCall, TraceEntry, VirtualClock
    from dcf.asl.trial.interpreter import interpret
    from dcf.asl.trial.state_test import run_state
    from dcf.asl.trial.state_test_case import Configuration, MockedError, MockedResult, StateTest
    from dcf.asl.trial.state_test_rules import StateTestRefused
    from dcf.asl.visit import (
        ChildFailed,
        Entered,
        Event,
        ItemsRead,
        ItemsUnreadable,
        Joined,
        ResultRefused,
        ResultsUnwritable,
        ResultsWritten,
        TaskFailed,
        TaskSucceeded,
        TimerFired,
        Visit,
        visit_identity,
    )
    from dcf.asl.work_steps import time_limits
else:
    export_late(__name__)

__all__ = [
    "HEARTBEAT_TIMEOUT",
    "JSON",
    "MANUAL_TASK_FAILED",
    "MAX_DEFINITION",
    "MEMORY",
    "PAYLOAD_LIMIT",
    "TIMEOUT",
    "Answer",
    "AslError",
    "ChildFailed",
    "ChoiceState",
    "Configuration",
    "ContextPolicy",
    "DefinitionError",
    "Diagnostic",
    "Effect",
    "Entered",
    "EvaluationError",
    "Event",
    "Execution",
    "ExpressionError",
    "FailState",
    "Failure",
    "FanOut",
    "Finish",
    "ItemsRead",
    "ItemsUnreadable",
    "Joined",
    "MachineType",
    "ManualTask",
    "MapState",
    "MemoryObjects",
    "MemoryPolicy",
    "MockedError",
    "MockedResult",
    "ObjectRef",
    "ObjectStore",
    "ParallelState",
    "PassState",
    "ReadItems",
    "Rejection",
    "ResultRefused",
    "ResultsUnwritable",
    "ResultsWritten",
    "RetryAfter",
    "RunTask",
    "State",
    "StateMachine",
    "StateTest",
    "StateTestRefused",
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
    "child_context",
    "closest_hint",
    "diagnostics",
    "dump",
    "format_timestamp",
    "interpret",
    "item_input",
    "iteration_context",
    "locate",
    "map_run",
    "parse",
    "parse_timestamp",
    "place",
    "read_items",
    "read_json",
    "refused",
    "rejection",
    "run_state",
    "size",
    "step",
    "time_limits",
    "too_large",
    "unstorable",
    "validate",
    "validation_answer",
    "variable_references",
    "visit_identity",
    "with_others",
    "write_results",
]
