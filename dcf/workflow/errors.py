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


class EarlierRuns(WorkflowError):
    """An earlier version began runs that this one would end in another way."""

    code = "earlier_runs"


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


class NoApprovalPending(WorkflowError):
    """Nothing of the run, or of that state, waits for approval; ``paths`` are those that do."""

    code = "no_approval_pending"

    def __init__(self, workflow_id: str, path: str | None, paths: Sequence[str]) -> None:
        self.paths = list(paths)
        where = f"{path} of run {workflow_id}" if path else f"nothing in run {workflow_id}"
        told = f"{where} does not wait for approval" if path else f"{where} waits for approval"
        super().__init__(told + (f"; waiting: {', '.join(self.paths)}" if self.paths else ""))


class SeveralPending(WorkflowError):
    """More than one state of the run waits for approval: ``paths``. Name one."""

    code = "several_pending"

    def __init__(self, workflow_id: str, paths: Sequence[str]) -> None:
        self.paths = list(paths)
        super().__init__(f"in run {workflow_id} several wait for approval: {', '.join(self.paths)}")


class NoManualTask(WorkflowError):
    """No manual task waits at that state; ``paths`` are those of the run that do."""

    code = "no_manual_task"

    def __init__(self, workflow_id: str, path: str, paths: Sequence[str]) -> None:
        self.paths = list(paths)
        told = f"{path} of run {workflow_id} waits for nobody to do it"
        super().__init__(told + (f"; waiting: {', '.join(self.paths)}" if self.paths else ""))


class UnfitAnswer(WorkflowError):
    """The answer to a manual task is none that it takes; ``faults`` say why."""

    code = "unfit_answer"

    def __init__(self, workflow_id: str, path: str, faults: Sequence[str]) -> None:
        self.faults = list(faults)
        super().__init__(f"{path} of run {workflow_id} takes no such answer: {'; '.join(faults)}")


class NotAnApprover(WorkflowError):
    """This person may not decide; ``people`` may."""

    code = "not_an_approver"

    def __init__(self, name: str, approver: str, people: Sequence[str]) -> None:
        self.people = list(people)
        may = ", ".join(people) or "nobody"
        super().__init__(f"{name!r} may not decide: {approver!r} is asked, which is {may}")


class QuestionChanged(WorkflowError):
    """Another question is open there than the one that was seen; ``question`` and ``digest`` are
    those of the open one."""

    code = "question_changed"

    def __init__(self, where: str, question: str, digest: str, what: str) -> None:
        self.question, self.digest = question, digest
        super().__init__(f"{where} asks question {question} now: {what}, digest {digest}")


class ApprovalSettled(WorkflowError):
    """The question was answered before, or its time has passed."""

    code = "already_settled"
