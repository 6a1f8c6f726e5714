"""The machines that are run."""

from __future__ import annotations

from typing import Any


def chain(length: int, **state: Any) -> dict[str, Any]:
    """``length`` states one after another."""
    last = {f"S{length - 1}": {**state, "End": True}}
    return {
        "StartAt": "S0",
        "States": {
            f"S{number}": {**state, "Next": f"S{number + 1}"} for number in range(length - 1)
        }
        | last,
    }


def passes(length: int) -> dict[str, Any]:
    """A chain of Pass states."""
    return chain(length, Type="Pass")


def tasks(length: int) -> dict[str, Any]:
    """A chain of Tasks whose handler does nothing."""
    return chain(length, Type="Task", Resource="noop")


def fan() -> dict[str, Any]:
    """A Map over the input's items, each a Task that does nothing."""
    inner = {"StartAt": "One", "States": {"One": {"Type": "Task", "Resource": "noop", "End": True}}}
    state = {"Type": "Map", "ItemsPath": "$.items", "ItemProcessor": inner, "End": True}
    return {"StartAt": "All", "States": {"All": state}}


async def noop(arguments: Any) -> Any:
    """Give back the arguments."""
    return arguments


HANDLERS = {"noop": noop}
