"""Workflows: documents become runs, runs are advanced by whoever holds a lease, and end in a
result, an audit trail and an explanation."""

from __future__ import annotations

from dcf.workflow.audit_trail import write_audit_trail
from dcf.workflow.choreography import Choreographer
from dcf.workflow.document import WorkflowDocument, load, validate
from dcf.workflow.errors import InvalidWorkflow, NotRedrivable, StillRunning, WorkflowError
from dcf.workflow.explanation import Explanation, Reason, explain, live_workers
from dcf.workflow.finalization import count, finalize
from dcf.workflow.redriving import Redrive, redrive
from dcf.workflow.result import Result, result, wait
from dcf.workflow.run import Run, RunCache, iso
from dcf.workflow.submission import submit
from dcf.workflow.tally import Tally, is_earlier
from dcf.workflow.task import Failed, Outcome, Perform, Succeeded, Task

__all__ = [
    "Choreographer",
    "Explanation",
    "Failed",
    "InvalidWorkflow",
    "NotRedrivable",
    "Outcome",
    "Perform",
    "Reason",
    "Redrive",
    "Result",
    "Run",
    "RunCache",
    "StillRunning",
    "Succeeded",
    "Tally",
    "Task",
    "WorkflowDocument",
    "WorkflowError",
    "count",
    "explain",
    "finalize",
    "is_earlier",
    "iso",
    "live_workers",
    "load",
    "redrive",
    "result",
    "submit",
    "validate",
    "wait",
    "write_audit_trail",
]
