"""What can go wrong with a planning. A class's docstring is its message."""

from __future__ import annotations

from dcf.problem import Problem, ProblemError


class PlanningProblem(ProblemError):
    """That cannot be done with the planning."""

    code = "planning_problem"


class UnknownPlanning(PlanningProblem):
    """There is no planning {id!r}."""

    code = "planning_unknown"
    hint = "`dcf plans` lists them"


class PlanningDamaged(PlanningProblem):
    """The planning in {file} cannot be read: {why}."""

    code = "planning_damaged"
    hint = "remove the file, or put a copy of it back"


class PlanningConflict(PlanningProblem):
    """Planning {id} is at revision {found}, not {expected}: somebody else was faster."""

    code = "planning_conflict"
    hint = "look at it again, then repeat what is still wanted"


class WrongStatus(PlanningProblem):
    """Planning {id} is {status}: {what}."""

    code = "planning_status"
    hint = "`dcf plan --resume ID` shows what comes next"


class ShownOtherwise(PlanningProblem):
    """What would be approved is not what was shown: {why}."""

    code = "plan_shown_otherwise"
    hint = "look at the plan again, and approve the digest that is shown with it"


class WorkflowChanged(PlanningProblem):
    """{file} is not the workflow that was approved."""

    code = "plan_workflow_changed"
    hint = "remove the file: it is written again; or plan anew with the changed workflow"


class InvalidAnswers(PlanningProblem):
    """The answers cannot be used."""

    code = "plan_answers"

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__()
