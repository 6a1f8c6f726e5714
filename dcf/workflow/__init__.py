"""Workflows: documents become runs, runs are advanced by whoever holds a lease, and end in a
result, an audit trail and an explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.workflow.approval import (
        Decision,
        PendingApproval,
        answer_approval,
        check_question,
        decide_approval,
        find_approval,
        in_words,
        is_manual,
        pending_approvals,
        question_of,
    )
    from dcf.workflow.asking import approval_wait, is_only_asked, standing_grants
    from dcf.workflow.audit_trail import write_audit_trail
    from dcf.workflow.blanks import OpenBlank, blank_warning, open_blanks
    from dcf.workflow.callback import beat_task, fail_task, succeed_task
    from dcf.workflow.choreography import Choreographer
    from dcf.workflow.document import WorkflowDocument, document_of, load, task_states, validate
    from dcf.workflow.earlier_runs import earlier_runs, refuse_earlier_runs
    from dcf.workflow.errors import (
        ApprovalSettled,
        EarlierRuns,
        InvalidWorkflow,
        NoApprovalPending,
        NoManualTask,
        NotAnApprover,
        NotRedrivable,
        SeveralPending,
        StillRunning,
        TaskExpired,
        TaskSettled,
        UnfitAnswer,
        UnknownTaskToken,
        WorkflowError,
    )
    from dcf.workflow.explanation import (
        Explanation,
        Reason,
        blocked_workers,
        explain,
        live_workers,
        pools_under_way,
    )
    from dcf.workflow.external import EXTERNAL_TTL_MS, External, needs_work
    from dcf.workflow.external_assignment import Assignment
    from dcf.workflow.finalization import count, finalize
    from dcf.workflow.graph import Graph, graph_of
    from dcf.workflow.imports import Folders, Imported
    from dcf.workflow.local_objects import LocalObjects
    from dcf.workflow.manual_tasks import (
        ManualAnswer,
        WaitingTask,
        answer_task,
        find_task,
        waiting_tasks,
    )
    from dcf.workflow.naming import SESSION_PIN, TASK_WORKFLOW, Naming, PlainNames
    from dcf.workflow.objects import Objects, no_objects
    from dcf.workflow.pins import further_pins
    from dcf.workflow.redriving import Redrive, redrive
    from dcf.workflow.result import Result, result, wait
    from dcf.workflow.review import Review, review
    from dcf.workflow.run import Run, RunCache, iso
    from dcf.workflow.run_file import is_file_name, read_run_file, reading_file, shelve
    from dcf.workflow.run_observations import observations_of, observe_run
    from dcf.workflow.run_recording import read_run, run_event
    from dcf.workflow.run_story import plain_error
    from dcf.workflow.submission import skill_pins, submit
    from dcf.workflow.tally import Tally, is_earlier
    from dcf.workflow.task import AwaitingApproval, Failed, Outcome, Perform, Succeeded, Task
    from dcf.workflow.task_token import TokenClaim
    from dcf.workflow.timeline import Moment, Timeline, read_timeline
else:
    export_late(__name__)

__all__ = [
    "EXTERNAL_TTL_MS",
    "SESSION_PIN",
    "TASK_WORKFLOW",
    "ApprovalSettled",
    "Assignment",
    "AwaitingApproval",
    "Choreographer",
    "Decision",
    "EarlierRuns",
    "Explanation",
    "External",
    "Failed",
    "Folders",
    "Graph",
    "Imported",
    "InvalidWorkflow",
    "LocalObjects",
    "ManualAnswer",
    "Moment",
    "Naming",
    "NoApprovalPending",
    "NoManualTask",
    "NotAnApprover",
    "NotRedrivable",
    "Objects",
    "OpenBlank",
    "Outcome",
    "PendingApproval",
    "Perform",
    "PlainNames",
    "Reason",
    "Redrive",
    "Result",
    "Review",
    "Run",
    "RunCache",
    "SeveralPending",
    "StillRunning",
    "Succeeded",
    "Tally",
    "Task",
    "TaskExpired",
    "TaskSettled",
    "Timeline",
    "TokenClaim",
    "UnfitAnswer",
    "UnknownTaskToken",
    "WaitingTask",
    "WorkflowDocument",
    "WorkflowError",
    "answer_approval",
    "answer_task",
    "approval_wait",
    "beat_task",
    "blank_warning",
    "blocked_workers",
    "check_question",
    "count",
    "decide_approval",
    "document_of",
    "earlier_runs",
    "explain",
    "fail_task",
    "finalize",
    "find_approval",
    "find_task",
    "further_pins",
    "graph_of",
    "in_words",
    "is_earlier",
    "is_file_name",
    "is_manual",
    "is_only_asked",
    "iso",
    "live_workers",
    "load",
    "needs_work",
    "no_objects",
    "observations_of",
    "observe_run",
    "open_blanks",
    "pending_approvals",
    "plain_error",
    "pools_under_way",
    "question_of",
    "read_run",
    "read_run_file",
    "read_timeline",
    "reading_file",
    "redrive",
    "refuse_earlier_runs",
    "result",
    "review",
    "run_event",
    "shelve",
    "skill_pins",
    "standing_grants",
    "submit",
    "succeed_task",
    "task_states",
    "validate",
    "wait",
    "waiting_tasks",
    "write_audit_trail",
]
