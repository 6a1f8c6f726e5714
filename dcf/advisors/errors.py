"""What can go wrong with advisors. A class's docstring is its message."""

from __future__ import annotations

from dcf.problem import ProblemError


class AdvisorProblem(ProblemError):
    """The advisor cannot do that."""

    code = "advisor_problem"


class NotRegistered(AdvisorProblem):
    """Agent {planner} has no Reflector."""

    code = "reflector_not_registered"
    hint = "`register_reflector` with the ids of both"


class AnotherReflector(AdvisorProblem):
    """Agent {reflector} is not the Reflector of {planner}; {registered} is."""

    code = "reflector_is_another"
    hint = "leave the id away, or register this one"


class OneAgentTwice(AdvisorProblem):
    """Agent {agent} cannot be its own Reflector."""

    code = "reflector_is_planner"
    hint = "create an agent from the template `reflector`"


class NotJson(AdvisorProblem):
    """{what} is not {wanted}: {why}."""

    code = "advisor_not_json"
    hint = "pass a JSON text"


class RunNotOver(AdvisorProblem):
    """Run {workflow_id} is {status}: there is nothing to reflect on yet."""

    code = "run_not_over"
    hint = "wait for its end, or `finalize_workflow`"
