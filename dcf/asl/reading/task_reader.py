"""A Task of a definition, read into its parsed form."""

from __future__ import annotations

from dcf.asl.context_policy import read_context
from dcf.asl.dataflow import read_template
from dcf.asl.jsonata.flow import read_jsonata
from dcf.asl.manual_task import read_manual
from dcf.asl.memory_policy import read_memory
from dcf.asl.payload import is_integer
from dcf.asl.reading.binding import check_binding
from dcf.asl.reading.node import Node
from dcf.asl.reading.state_parts import Parts
from dcf.asl.reading.typed_field import read_amount
from dcf.asl.retrier import LARGEST
from dcf.asl.scope import Expression
from dcf.asl.state import TaskState

WAITS_FOR_TOKEN = ".waitForTaskToken"


def read_task(parts: Parts) -> TaskState:
    node = parts.node
    resource = node.text("Resource", filled=True)
    binding = node.node("AgentBinding")
    if "Resource" not in node and "AgentBinding" not in node:
        hint = "name an activity in `Resource` or an agent in `AgentBinding`"
        node.missing("Resource", "a Task needs `Resource` or `AgentBinding`", hint)
    if binding is not None:
        check_binding(binding)
        approval = binding.value.get("approval")
        if resource is not None and isinstance(approval, dict) and approval.get("only") is True:
            message = "no work follows an approval with `only`, so `Resource` means nothing"
            node.error("ASL_FIELD_CLASH", "Resource", message)
    timeout_s, timeout = _read_limit(node, "TimeoutSeconds", parts.jsonata)
    heartbeat_s, heartbeat = _read_limit(node, "HeartbeatSeconds", parts.jsonata)
    if heartbeat_s is not None and timeout_s is not None and heartbeat_s >= timeout_s:
        message = f"a heartbeat every {heartbeat_s:g} s can never be missed within {timeout_s:g} s"
        hint = "make `HeartbeatSeconds` smaller than `TimeoutSeconds`"
        node.error("ASL_OUT_OF_RANGE", "HeartbeatSeconds", message, hint)
    return TaskState(
        **parts.common,
        resource=resource,
        binding=binding.value if binding is not None else None,
        memory=read_memory(binding, is_task=True) if binding is not None else None,
        context=read_context(binding) if binding is not None else None,
        manual=read_manual(node, binding) if binding is not None else None,
        timeout_s=timeout_s,
        heartbeat_s=heartbeat_s,
        timeout=timeout,
        heartbeat=heartbeat,
        waits_for_token=resource is not None and resource.endswith(WAITS_FOR_TOKEN),
        credentials=_read_credentials(node, parts.jsonata),
    )


def _read_limit(node: Node, field: str, jsonata: bool) -> tuple[float | None, Expression | None]:
    """A limit in seconds that is fixed, or one to evaluate; None without."""
    found = read_amount(node, field, jsonata, 1, LARGEST)
    if found is not None and is_integer(node.value.get(field)):
        return float(node.value[field]), None
    return None, found


def _read_credentials(node: Node, jsonata: bool) -> Expression | None:
    return read_jsonata(node, "Credentials") if jsonata else read_template(node, "Credentials")
