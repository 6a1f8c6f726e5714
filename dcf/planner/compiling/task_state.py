"""The Task state of a step: who does it, what it is told, given and allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dcf.planner.compiling.command_arguments import command_arguments
from dcf.planner.compiling.expression import Names, or_null, result_of, value_of, wrapped
from dcf.planner.compiling.tool_results import required_tools, sole_tool
from dcf.planner.compiling.work import Work
from dcf.sop import Approval, Budget, Guardrail, Retry, Step

State = dict[str, Any]
_LOST_ANSWERS = ["DCF.ToolUnavailable", "DCF.ToolTimeout"]
REJECTED = "DCF.ApprovalRejected"
TIMED_OUT = "States.Timeout"
RULES = "These rules hold throughout:"
"""The line above the guardrails of a procedure, in what each of its steps is told."""


def task_state(
    work: Work, given: Mapping[str, str], names: Names, rules: Sequence[Guardrail]
) -> State:
    """The state of a task, without its transitions."""
    step = work.step
    skills = work.skills
    sole = sole_tool(skills)
    binding: State = {}
    if step.role:
        binding["agent_template_ref"] = {"name": agent_name(step.role)}
    if skills:
        binding["skills"] = [f"{one.name}@{one.version}" for one in skills]
    if sole is not None:
        binding["tool_name"] = sole.name
    if skills:
        binding["task_type"] = skills[0].name
    if step.tier is not None:
        binding["tier"] = step.tier
    if step.approval is not None:
        binding["approval"] = approval(step.approval)
    if step.budget is not None:
        binding["budget"] = budget(step.budget)
    state: State = {
        "Type": "Task",
        "Comment": instructions(work, rules),
        "AgentBinding": binding,
        "Arguments": arguments(given, names)
        if step.runs is None
        else command_arguments(step.runs, names, step.deadline),
    }
    if step.deadline is not None:
        state["TimeoutSeconds"] = step.deadline
    retry = retries(step.retries, step.approval is not None) or _after_lost_answers(work)
    if retry:
        state["Retry"] = retry
    return state


def approval_state(step: Step, given: Mapping[str, str], names: Names) -> State:
    """The state of a step that is nothing but an approval."""
    assert step.approval is not None
    asked = {**approval(step.approval), "only": True}
    if step.deadline is not None:
        asked["timeout_s"] = step.deadline
    return {
        "Type": "Task",
        "Comment": title_and_text(step),
        "AgentBinding": {"task_type": "approval", "approval": asked},
        "Arguments": arguments(given, names),
    }


def title_and_text(step: Step) -> str:
    """What a state says of its step that nobody is told who does it."""
    return "\n".join(part for part in (step.title, step.text) if part)


def arguments(given: Mapping[str, str], names: Names) -> State:
    """What a Task is given: each value by the name of its argument."""
    found = {}
    for argument, path in given.items():
        value = value_of(path, names)
        # A member may be missing, and nothing would end the run.
        found[argument] = wrapped(or_null(value) if "." in path else value)
    return found


def kept(work: Work, names: Names) -> State:
    """What is kept of a Task's result, by the variable that holds it."""
    return {
        names.variable(name): wrapped(
            result_of(found.path) if found.certain else or_null(result_of(found.path))
        )
        for name, found in work.results.items()
    }


def approval(wanted: Approval) -> State:
    """Any one of those who are named decides."""
    asked: State = {"required": True}
    if wanted.by:
        asked["approvers"] = list(wanted.by)
    if len(wanted.by) > 1:
        asked["any_of"] = True
    return asked


def budget(wanted: Budget) -> State:
    members = ("tool_calls", "model_calls", "tokens", "cost_usd", "wall_time_s")
    return {name: getattr(wanted, name) for name in members if getattr(wanted, name) is not None}


def retries(wanted: Sequence[Retry], is_approved: bool) -> list[State]:
    """As the step says. A refusal is not retried, unless it is named: to ask again is no help."""
    found: list[State] = []
    named = {error for one in wanted for error in one.errors}
    if wanted and is_approved and REJECTED not in named:
        found.append({"ErrorEquals": [REJECTED], "MaxAttempts": 0})
    # What is for all errors has to stand last.
    for one in sorted(wanted, key=lambda each: not each.errors):
        retrier: State = {
            "ErrorEquals": list(one.errors) or ["States.ALL"],
            "IntervalSeconds": max(1, one.wait),
            "MaxAttempts": one.times,
            "BackoffRate": max(1.0, one.factor),
        }
        if one.longest is not None:
            retrier["MaxDelaySeconds"] = one.longest
        found.append(retrier)
    return found


def _after_lost_answers(work: Work) -> list[State]:
    """Tools that all declare that a repeated call does nothing more may be called again when no
    answer came; nothing else is retried unasked."""
    tools = required_tools(work.skills)
    if not tools or not all(tool.idempotent for tool in tools):
        return []
    return [{"ErrorEquals": list(_LOST_ANSWERS), "IntervalSeconds": 1, "MaxAttempts": 2}]


def instructions(work: Work, rules: Sequence[Guardrail]) -> str:
    """What the agent is told: the step, what to report, and the rules that hold throughout."""
    step = work.step
    lines = [step.title if step.title.endswith((".", "!", "?")) else f"{step.title}."]
    if step.text:
        lines.append(step.text)
    if work.results:
        lines.append(_report(work))
    lines += rule_lines(rules)
    if work.choice is not None:
        names = ", ".join(f"{one.name}@{one.version}" for one in work.skills)
        how = "named by the step" if work.choice.named else "found by what the step says"
        lines.append(f"(Step {step.number}; {names}, {how}.)")
    return "\n".join(lines)


def rule_lines(rules: Sequence[Guardrail]) -> list[str]:
    """What is told of the rules of a procedure to whoever does a step of it."""
    return [RULES, *(f"- {rule.text}" for rule in rules)] if rules else []


def _report(work: Work) -> str:
    """A rehearsal reports just that, so that the same paths hold with a model and without."""
    sole = sole_tool(work.skills)
    tools = required_tools(work.skills)
    if sole is not None:
        return f"Report what {sole.name} returned, as it is."
    if tools:
        names = ", ".join(tool.name for tool in tools)
        return f"Report an object with one member for each tool called ({names}): what it returned."
    members = ", ".join(f"`{'.'.join(found.path) or name}`" for name, found in work.results.items())
    return f"Report an object with {members}."


def agent_name(role: str) -> str:
    """The agent's name in records: the role in small letters, joined by hyphens."""
    words = "".join(letter.lower() if letter.isalnum() else " " for letter in role).split()
    return "-".join(words) or "worker"
