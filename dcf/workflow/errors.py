"""What a user of workflows can run into. A class's docstring is its default message."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.problem import Problem


class WorkflowError(Exception):
    """The workflow failed."""

    code = "workflow_error"


class InvalidWorkflow(WorkflowError):
    """The workflow, its input or what it refers to is not valid; ``problems`` says all that is."""

    code = "invalid_workflow"

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = list(problems)
        count = sum(problem.is_error for problem in self.problems)
        super().__init__(f"{count} problem{'s' if count != 1 else ''} in the workflow")


class NotRedrivable(WorkflowError):
    """The run cannot be redriven."""

    code = "not_redrivable"


class StillRunning(WorkflowError):
    """The run is not over."""

    code = "still_running"


class UnknownTaskToken(WorkflowError):
    """No run here gave out this task token."""

    code = "unknown_task_token"


class TaskSettled(WorkflowError):
    """The Task was answered before, or this try of it is over."""

    code = "already_settled"


class TaskExpired(WorkflowError):
    """The Task takes no answer any more: its time limit has passed, or its run ended."""

    code = "task_expired"
