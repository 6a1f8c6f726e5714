"""Workflows: documents become runs, runs are advanced by whoever holds a lease, and end in a
result, an audit trail and an explanation."""

from __future__ import annotations

from dcf.workflow.audit_trail import write_audit_trail
from dcf.workflow.callback import beat_task, fail_task, succeed_task
from dcf.workflow.choreography import Choreographer
from dcf.workflow.document import WorkflowDocument, document_of, load, validate
from dcf.workflow.errors import (
    InvalidWorkflow,
    NotRedrivable,
    StillRunning,
    TaskExpired,
    TaskSettled,
    UnknownTaskToken,
    WorkflowError,
)
from dcf.workflow.explanation import Explanation, Reason, explain, live_workers
from dcf.workflow.finalization import count, finalize
from dcf.workflow.local_objects import LocalObjects
from dcf.workflow.naming import Naming, PlainNames
from dcf.workflow.objects import Objects, no_objects
from dcf.workflow.redriving import Redrive, redrive
from dcf.workflow.result import Result, result, wait
from dcf.workflow.run import Run, RunCache, iso
from dcf.workflow.submission import submit
from dcf.workflow.tally import Tally, is_earlier
from dcf.workflow.task import Failed, Outcome, Perform, Succeeded, Task
from dcf.workflow.task_token import TokenClaim

__all__ = [
    "Choreographer",
    "Explanation",
    "Failed",
    "InvalidWorkflow",
    "LocalObjects",
    "Naming",
    "NotRedrivable",
    "Objects",
    "Outcome",
    "Perform",
    "PlainNames",
    "Reason",
    "Redrive",
    "Result",
    "Run",
    "RunCache",
    "StillRunning",
    "Succeeded",
    "Tally",
    "Task",
    "TaskExpired",
    "TaskSettled",
    "TokenClaim",
    "UnknownTaskToken",
    "WorkflowDocument",
    "WorkflowError",
    "beat_task",
    "count",
    "document_of",
    "explain",
    "fail_task",
    "finalize",
    "is_earlier",
    "iso",
    "live_workers",
    "load",
    "no_objects",
    "redrive",
    "result",
    "submit",
    "succeed_task",
    "validate",
    "wait",
    "write_audit_trail",
]
