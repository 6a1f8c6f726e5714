"""Machines and single states tried without a control plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.asl.trial.execution import (
        Answer,
        CallTask,
        Execution,
        Path,
        TaskCall,
        TraceEntry,
        VirtualClock,
    )
    from dcf.asl.trial.interpreter import interpret
    from dcf.asl.trial.invariant import Invariant
    from dcf.asl.trial.mocked_answer import MockedAnswer
    from dcf.asl.trial.mocks import Mocks, MockTrouble, suits
    from dcf.asl.trial.mocks_file import MocksInvalid, read_mocks
    from dcf.asl.trial.state_test import ALONE, read_state, run_state
    from dcf.asl.trial.state_test_case import Configuration, MockedError, MockedResult, StateTest
    from dcf.asl.trial.state_test_rules import StateNotFound, StateTestRefused
else:
    export_late(__name__)

__all__ = [
    "ALONE",
    "Answer",
    "CallTask",
    "Configuration",
    "Execution",
    "Invariant",
    "MockTrouble",
    "MockedAnswer",
    "MockedError",
    "MockedResult",
    "Mocks",
    "MocksInvalid",
    "Path",
    "StateNotFound",
    "StateTest",
    "StateTestRefused",
    "TaskCall",
    "TraceEntry",
    "VirtualClock",
    "interpret",
    "read_mocks",
    "read_state",
    "run_state",
    "suits",
]
