"""Variables as a definition assigns them: their names, and in which scopes they exist."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dcf.asl.jsonpath.syntax import MAX_VARIABLE_NAME
from dcf.asl.reading.findings import child
from dcf.asl.reading.node import Node

BAD_NAME = "ASL_BAD_VARIABLE_NAME"
RESERVED = "states"


def check_names(node: Node, jsonata: bool) -> None:
    """Report every name that a state assigns to and no variable can have."""
    for name, pointer in assignments(node, jsonata):
        what, aws = _fault(name)
        if what:
            hint = "write a letter, then letters, digits and `_`"
            node.findings.error(BAD_NAME, pointer, what, hint, aws)


def assigned_by(node: Node, jsonata: bool) -> set[str]:
    """The variables that a state may assign."""
    return {name for name, _ in assignments(node, jsonata)}


def assignments(node: Node, jsonata: bool) -> Iterator[tuple[str, str]]:
    """(variable, pointer) of what a state assigns: itself, a choice rule or a catcher."""
    for holder, place in _holders(node):
        assigned = holder.get("Assign")
        for key in assigned if isinstance(assigned, dict) else ():
            yield variable_name(key, jsonata), child(place, "Assign", key)


def variable_name(key: str, jsonata: bool) -> str:
    """The variable that a member ``key`` of ``Assign`` stands for."""
    return key[:-2] if not jsonata and key.endswith(".$") else key


def _holders(node: Node) -> Iterator[tuple[dict[str, Any], str]]:
    """What in a state may carry an ``Assign``, each with its pointer."""
    yield node.value, node.pointer
    for field in ("Choices", "Catch"):
        entries = node.value.get(field)
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, dict):
                yield entry, child(node.place(field), index)


def _fault(name: str) -> tuple[str, str]:
    """What is wrong with ``name``, in our words and in AWS's; both empty when nothing is."""
    if name == RESERVED:
        return (
            f"`${RESERVED}` is given by the language and cannot be assigned",
            f"Cannot assign to reserved variable '${RESERVED}'.",
        )
    start = f"Invalid variable name '{name}': the variable name"
    if len(name) > MAX_VARIABLE_NAME:
        return (
            f"the name of a variable has at most {MAX_VARIABLE_NAME} characters, not {len(name)}",
            f"{start} exceeds the {MAX_VARIABLE_NAME}-character limit allowed by the service.",
        )
    # A Unicode identifier, of which Python alone lets `_` be the first character.
    if not name.isidentifier() or name.startswith("_"):
        return f"`{name}` cannot be the name of a variable", f"{start} contains invalid characters."
    return "", ""
