"""Error names that ``Retry`` and ``Catch`` wait for and that nothing raises."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dcf.asl.checks.known_names import ERROR_NAMES, HTTP_ERRORS
from dcf.asl.reading.fields import closest_hint
from dcf.asl.reading.findings import child
from dcf.asl.reading.node import Node
from dcf.asl.reading.state_tree import all_states

_RESERVED = "States."


def warn_error_names(root: Node) -> None:
    """Warn of each ``States.…`` in ``ErrorEquals`` that is neither AWS's nor a Fail state's."""
    states = [state for _, state in all_states(root)]
    raised = {
        error
        for state in states
        if state.value.get("Type") == "Fail" and isinstance(error := state.value.get("Error"), str)
    }
    for state in states:
        for place, name in _awaited(state):
            if not _is_known(name) and name not in raised:
                message = f"no error is named `{name}`: names in `States.` are the language's own"
                is_long = root.findings.are_many
                hint = "check the spelling" if is_long else closest_hint(name, ERROR_NAMES)
                root.findings.warning("ASL_UNKNOWN_ERROR_NAME", place, message, hint)


def _is_known(name: str) -> bool:
    return (
        not name.startswith(_RESERVED)
        or name in ERROR_NAMES
        or (name.startswith(HTTP_ERRORS) and name.removeprefix(HTTP_ERRORS).isdigit())
    )


def _awaited(state: Node) -> Iterator[tuple[str, str]]:
    """(pointer, error name) of all that a state retries or catches."""
    for field in ("Retry", "Catch"):
        for number, entry in enumerate(_list(state.value.get(field))):
            names = entry.get("ErrorEquals") if isinstance(entry, dict) else None
            for index, name in enumerate(_list(names)):
                if isinstance(name, str):
                    yield child(state.place(field), number, "ErrorEquals", index), name


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
