"""Blanks in what manual tasks say, such as ``<node>``: what fills them, and which stay open."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from control_plane import JSON
from dcf.problem import Problem
from dcf.workflow.document import WorkflowDocument, task_states

_PLACEHOLDER = re.compile(r"\{\{\s*([\w.-]+)\s*\}\}|\$\{(\w+)\}|\$(\w+)|<([\w .-]+)>")
_NAMED = re.compile(r"`([\w.]+)`")
_SAFE = re.compile(r"[\w@%+=:,./][\w@%+=:,./-]*")
_NAMED_STATES = 3
_WHOSE = re.compile(r"^(?:your|my|the|insert|enter|some)_(?=[a-z])")


@dataclass(frozen=True, slots=True)
class OpenBlank:
    """An input that a run goes on without, though ``states``, tasks of people, show it."""

    name: str
    states: tuple[str, ...]


def filled(text: str, given: JSON) -> str:
    """``text`` with the values of ``given`` in place of ``{{ name }}``, ``${NAME}``, ``$NAME`` and
    ``<name>``, and behind a name in backticks, as procedures have them. A value that a shell would
    take for more than one word stays out: it would be pasted into one."""
    members = given if isinstance(given, dict) else {}
    values = {_name(name): str(one) for name, one in members.items() if _is_plain(one)}

    def value(found: re.Match[str]) -> str:
        name = next(part for part in found.groups() if part is not None)
        return _known(name, values) or found[0]

    def named(found: re.Match[str]) -> str:
        known = values.get(_name(found[1]))
        return found[0] if known is None else f"{found[0]} ({known})"

    return _NAMED.sub(named, _PLACEHOLDER.sub(value, text))


def open_blanks(document: WorkflowDocument, value: Any) -> list[OpenBlank]:
    """The inputs that a run of ``document`` with ``value`` is not asked for, has no default for,
    and shows to people; in the order of the schema."""
    tasks = list(task_states(document.definition))
    written = {name for _, state in tasks for name in _members(state.get("Assign"))}
    given = _members(value)
    found = []
    for name in _optional(document):
        if name in written or given.get(name) is not None:
            continue
        states = tuple(_title(path) for path, state in tasks if _shows(state, name))
        if states:
            found.append(OpenBlank(name, states))
    return found


def blank_warning(
    document: WorkflowDocument, value: Any, lines: Mapping[str, int] | None = None
) -> Problem | None:
    """A warning that names all ``open_blanks``, with their ``lines`` in the source where these are
    known; None where there are none."""
    blanks = open_blanks(document, value)
    if not blanks:
        return None
    named = ", ".join(f"{one.name} ({_place(one, lines or {})})" for one in blanks)
    example = ", ".join(f'"{one.name}": "…"' for one in blanks)
    return Problem(
        "WF_INPUT_BLANK",
        f"{_counted(len(blanks))} not given, and people are shown a blank instead: {named}",
        hint=f"give what is known: --input '{{{example}}}'",
        severity="warning",
        file="input",
    )


def _place(blank: OpenBlank, lines: Mapping[str, int]) -> str:
    line = lines.get(blank.name)
    states = ", ".join(blank.states[:_NAMED_STATES])
    more = len(blank.states) - _NAMED_STATES
    states += f" and {more} more" if more > 0 else ""
    return f"line {line}, {states}" if line else states


def _counted(number: int) -> str:
    return "1 input is" if number == 1 else f"{number} inputs are"


def _optional(document: WorkflowDocument) -> list[str]:
    schema = _members(document.raw.get("workflow_input_schema"))
    required = schema.get("required", [])
    return [
        name
        for name, one in _members(schema.get("properties")).items()
        if name not in required and "default" not in _members(one)
    ]


def _shows(state: Mapping[str, Any], name: str) -> bool:
    """Whether the text of the manual task ``state`` is about the input ``name``: has a placeholder
    for it, or, where the state hands it over, its words."""
    if "manual" not in _members(state.get("AgentBinding")):
        return False
    text = str(state.get("Comment", ""))
    arguments = state.get("Arguments", state.get("Parameters"))
    if isinstance(arguments, dict):
        is_given = name in arguments or f"{name}.$" in arguments
        return is_given and f"_{_name(name)}_" in f"_{_name(text)}_"
    return any(
        _known(next(part for part in found.groups() if part), {_name(name): name})
        for found in _PLACEHOLDER.finditer(text)
    )


def _title(path: str) -> str:
    return path.rpartition("/")[2].replace("~1", "/").replace("~0", "~")


def _members(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _known(written: str, values: Mapping[str, str]) -> str | None:
    """What ``values`` have for a placeholder: ``<your-node>`` is ``node`` where nothing has its
    whole name."""
    name = _name(written)
    return values.get(name) or values.get(_WHOSE.sub("", name))


def _is_plain(value: JSON) -> bool:
    is_one = isinstance(value, str | int | float) and not isinstance(value, bool)
    return is_one and _SAFE.fullmatch(str(value)) is not None


def _name(said: str) -> str:
    """A name however it is written: ``NODE_ID``, ``node id`` and ``node-id`` are one."""
    return re.sub(r"\W+", "_", said).strip("_").lower()
