"""What a state does, in a few words below its name."""

from __future__ import annotations

from typing import Any

from dcf.diagram.condition import bare

_ARN = "arn:"
_LAMBDA = ":function:"


def note_of(state: dict[str, Any]) -> str:
    """The type of ``state`` with what tells it from others: resource, delay, error, retries."""
    kind = state.get("Type")
    words = [kind if isinstance(kind, str) and kind else "no type", _detail(state)]
    approval = _approval(state.get("AgentBinding")) if kind == "Task" else None
    if (by := by_person(state)) is not None:
        words = [f"manual by {' or '.join(by)}" if by else "manual"]
    if approval is not None:
        only, said = approval
        words = [said] if only else [*words, said]
    words.append(_memory(state.get("AgentBinding") if kind == "Task" else state))
    words.append(_retries(state.get("Retry")))
    return " · ".join(word for word in words if word)


def _detail(state: dict[str, Any]) -> str:
    kind = state.get("Type")
    if kind == "Task":
        return _agent(state.get("AgentBinding")) or _resource(state)
    if kind == "Wait":
        return _delay(state)
    if kind == "Map":
        return _mode(state)
    if kind == "Fail":
        error = state.get("Error", state.get("ErrorPath"))
        return bare(error) if isinstance(error, str) else ""
    return ""


def _approval(binding: Any) -> tuple[bool, str] | None:
    """Whether a Task is an approval and no work, and who has to agree; None for no approval."""
    wanted = binding.get("approval") if isinstance(binding, dict) else None
    if not isinstance(wanted, dict) or not (wanted.get("required") or wanted.get("only")):
        return None
    by = wanted.get("approvers")
    names = [one for one in by if isinstance(one, str)] if isinstance(by, list) else []
    joint = " or " if wanted.get("any_of") else ", then "
    said = f"approval by {joint.join(names)}" if names else "approval"
    return bool(wanted.get("only")), said


def by_person(state: dict[str, Any]) -> list[str] | None:
    """Who does a Task that a person does; None for other states."""
    binding = state.get("AgentBinding") if state.get("Type") == "Task" else None
    manual = binding.get("manual") if isinstance(binding, dict) else None
    if not isinstance(manual, dict):
        return None
    by = manual.get("by")
    return [one for one in by if isinstance(one, str)] if isinstance(by, list) else []


def _agent(binding: Any) -> str:
    if not isinstance(binding, dict):
        return ""
    for field in ("tool_name", "agent_template_ref", "agent_ref"):
        found = binding.get(field)
        name = found.get("name") if isinstance(found, dict) else found
        if isinstance(name, str):
            return name
    return "agent"


def _memory(owner: Any) -> str:
    """What the policy for the memory says in an AgentBinding, a Map or a Parallel."""
    policy = owner.get("memory") if isinstance(owner, dict) else None
    if not isinstance(policy, dict):
        return ""
    scope = policy.get("scope")
    words = {"shared": "shared memory", "none": "no memory"}.get(str(scope), "branch memory")
    return f"{words}, gathered" if policy.get("gather") is True else words


def _resource(state: dict[str, Any]) -> str:
    resource = state.get("Resource")
    if not isinstance(resource, str):
        return ""
    if _LAMBDA in resource:
        return f"lambda {resource.partition(_LAMBDA)[2].partition(':')[0]}"
    if resource.startswith(_ARN):
        action = resource.partition(":states:")[2].lstrip(":").removeprefix("aws-sdk:")
        return action or resource.rpartition(":")[2]
    return resource


def _delay(state: dict[str, Any]) -> str:
    seconds = state.get("Seconds")
    if isinstance(seconds, int | float) and not isinstance(seconds, bool):
        return f"{seconds} s"
    for field, word in (
        ("Seconds", ""),
        ("SecondsPath", ""),
        ("Timestamp", "until "),
        ("TimestampPath", "until "),
    ):
        if isinstance(state.get(field), str):
            return word + bare(state[field])
    return ""


def _mode(state: dict[str, Any]) -> str:
    processor = state.get("ItemProcessor")
    config = processor.get("ProcessorConfig") if isinstance(processor, dict) else None
    mode = config.get("Mode") if isinstance(config, dict) else None
    words = ["distributed"] if mode == "DISTRIBUTED" else []
    most = state.get("MaxConcurrency")
    if isinstance(most, int) and not isinstance(most, bool) and most > 0:
        words.append(f"{most} at a time")
    return ", ".join(words)


def _retries(retriers: Any) -> str:
    """``retry ×3``: the most that any retrier allows; three is what the language takes."""
    if not isinstance(retriers, list):
        return ""
    found = [one.get("MaxAttempts", 3) for one in retriers if isinstance(one, dict)]
    most = [one for one in found if isinstance(one, int) and not isinstance(one, bool)]
    return f"retry\u00a0×{max(most)}" if most and max(most) > 0 else ""
