"""AgentBinding: which agent does a Task, with which skills (an extension of the language)."""

from __future__ import annotations

from dcf.asl.payload import excerpt
from dcf.asl.reading.fields import check_fields
from dcf.asl.reading.findings import child
from dcf.asl.reading.node import WRONG_TYPE, Node

FIELDS = frozenset(
    {
        "agent_template_ref",
        "agent_ref",
        "skills",
        "tool_name",
        "lifecycle",
        "approval",
        "budget",
        "context",
        "manual",
        "memory",
        "model",
        "task_type",
        "tier",
    }
)
_REFERENCE_FIELDS = frozenset({"id", "name"})
_APPROVAL_FIELDS = frozenset({"required", "approvers", "any_of", "timeout_s", "only"})
_BUDGET_FIELDS = frozenset({"tool_calls", "wall_time_s", "model_calls", "tokens", "cost_usd"})
_LIFECYCLE_FIELDS = frozenset({"mode", "destroy_on_end", "reuse_key"})
MODES = ("ephemeral", "pooled", "existing")
_MOST_CALLS = 1_000_000
_LONGEST_S = 99_999_999
_MOST_TOKENS = 1_000_000_000_000
_MOST_USD = 1_000_000


def check_binding(binding: Node) -> None:
    """Report what is wrong in an ``AgentBinding``."""
    check_fields(binding, FIELDS, "AgentBinding")
    for field in ("agent_template_ref", "agent_ref"):
        _check_reference(binding, field)
    binding.text("tool_name", filled=True)
    binding.text("task_type", filled=True)
    binding.integer("tier", 0, 3)
    _check_skills(binding)
    _check_lifecycle(binding)
    _check_approval(binding)
    _check_budget(binding)


def _check_reference(binding: Node, field: str) -> None:
    reference = binding.node(field)
    if reference is None:
        return
    check_fields(reference, _REFERENCE_FIELDS, f"`{field}`")
    for name in sorted(_REFERENCE_FIELDS):
        reference.text(name, filled=True)


def _check_skills(binding: Node) -> None:
    for index, skill in enumerate(binding.array("skills") or ()):
        if not isinstance(skill, str) or not skill:
            place = child(binding.place("skills"), index)
            message = f"a skill is a reference such as `name@1.0.0`, found {excerpt(skill)}"
            binding.findings.error(WRONG_TYPE, place, message)


def _check_lifecycle(binding: Node) -> None:
    lifecycle = binding.node("lifecycle")
    if lifecycle is None:
        return
    check_fields(lifecycle, _LIFECYCLE_FIELDS, "`lifecycle`")
    lifecycle.choice("mode", MODES)
    lifecycle.flag("destroy_on_end")
    if lifecycle.value.get("reuse_key") is not None:
        lifecycle.text("reuse_key", filled=True)


def _check_approval(binding: Node) -> None:
    """``{"required": true, "approvers": ["lead"], "timeout_s": 3600}``: the Task waits before any
    work; with ``any_of`` all approvers are asked at once, and the first answer counts; with
    ``only`` no work follows: the Task is done once it is approved."""
    approval = binding.node("approval")
    if approval is None:
        return
    check_fields(approval, _APPROVAL_FIELDS, "`approval`")
    approval.flag("required")
    approval.flag("any_of")
    _check_only(binding, approval)
    approval.number("timeout_s", 0.001, _LONGEST_S)
    for index, name in enumerate(approval.array("approvers") or ()):
        if not isinstance(name, str) or not name:
            place = child(approval.place("approvers"), index)
            message = f"an approver is the name of a person or of the policy, found {excerpt(name)}"
            binding.findings.error(WRONG_TYPE, place, message)


def _check_only(binding: Node, approval: Node) -> None:
    """``only`` is for an approval that is asked for, and for a Task without work of its own."""
    approval.flag("only")
    if approval.value.get("only") is not True:
        return
    if approval.value.get("required") is not True:
        approval.error("ASL_FIELD_CLASH", "only", "nobody is asked without `required: true`")
    for field in ("skills", "tool_name", "model", "tier"):
        if binding.value.get(field):
            message = f"no work follows an approval with `only`, so `{field}` means nothing"
            binding.error("ASL_FIELD_CLASH", field, message)


def _check_budget(binding: Node) -> None:
    """``{"tool_calls": 5, "wall_time_s": 60, "model_calls": 9, "tokens": 30000, "cost_usd": 0.1}``,
    for each try; some of them."""
    budget = binding.node("budget")
    if budget is None:
        return
    check_fields(budget, _BUDGET_FIELDS, "`budget`")
    budget.integer("tool_calls", 0, _MOST_CALLS)
    budget.number("wall_time_s", 0.001, _LONGEST_S)
    budget.integer("model_calls", 0, _MOST_CALLS)
    budget.integer("tokens", 0, _MOST_TOKENS)
    budget.number("cost_usd", 0.000001, _MOST_USD)
