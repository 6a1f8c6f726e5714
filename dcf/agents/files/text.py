"""The text of an agent file to a JSON value, within bounds."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

from dcf.agents.files.errors import InvalidAgentFile
from dcf.problem import Problem

LARGEST = 268_435_456
"""Bytes of a file: 256 MiB."""
DEEPEST = 100
"""Levels of values inside one another."""
MOST_PROBLEMS = 100
"""Problems that are told; a file made to fail could have millions."""
_WRAPPED = 3
"""How often the file may be JSON text inside a JSON text."""

_Step = tuple["_Step | None", str | int]


def json_in(data: bytes | str) -> Any:
    """The value of the file. Some programs write it as JSON text inside a JSON string: that is
    undone. Raises InvalidAgentFile."""
    value = _parsed(_decoded(data))
    for _ in range(_WRAPPED):
        if not isinstance(value, str):
            break
        value = _parsed(value)
    problems = list(islice(_unfit(value), MOST_PROBLEMS))
    if problems:
        raise InvalidAgentFile(problems)
    return value


def escape(name: str | int) -> str:
    """``name`` as one step of a JSON pointer."""
    return str(name).replace("~", "~0").replace("/", "~1")


def _decoded(data: bytes | str) -> str:
    if len(data) > LARGEST:
        message = f"the file has {len(data):,} bytes; {LARGEST:,} are read at most"
        raise InvalidAgentFile([Problem("AGENT_FILE_SIZE", message)])
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = Problem("AGENT_FILE_ENCODING", "the file is not UTF-8 text", line=line)
        raise InvalidAgentFile([problem]) from error


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        problem = Problem(
            "AGENT_FILE_SYNTAX",
            f"not JSON: {error.msg}",
            hint="was the file cut off, or is it something else?",
            line=error.lineno,
            column=error.colno,
        )
        raise InvalidAgentFile([problem]) from error
    except RecursionError as error:
        raise InvalidAgentFile([_too_deep()]) from error
    except ValueError as error:  # a number of thousands of digits, or NaN
        raise InvalidAgentFile([Problem("AGENT_FILE_NUMBER", f"not JSON: {error}")]) from error


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _too_deep(pointer: str = "") -> Problem:
    return Problem(
        "AGENT_FILE_DEPTH", f"values are nested more than {DEEPEST:,} levels deep", pointer
    )


def _unfit(value: Any) -> Iterator[Problem]:
    """What in ``value`` no memory could keep."""
    todo: list[tuple[Any, _Step | None, int]] = [(value, None, 0)]
    while todo:
        here, step, depth = todo.pop()
        if isinstance(here, str):
            yield from _text(here, step)
        elif isinstance(here, float) and not math.isfinite(here):
            yield Problem("AGENT_FILE_NUMBER", "a number is too large", _pointer(step))
        elif isinstance(here, dict | list) and depth == DEEPEST:
            yield _too_deep(_pointer(step))
        elif isinstance(here, dict):
            for name in here:
                yield from _text(name, step)
            todo += [(item, (step, name), depth + 1) for name, item in here.items()]
        elif isinstance(here, list):
            todo += [(item, (step, index), depth + 1) for index, item in enumerate(here)]


def _text(text: str, step: _Step | None) -> Iterator[Problem]:
    if "\0" in text:
        message = f"a text has a NUL at character {text.index(chr(0))}"
        hint = "remove it: programs that read the text would stop there"
        yield Problem("AGENT_FILE_TEXT", message, _pointer(step), hint)
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        message = f"a text has half a surrogate pair at character {error.start}"
        # The text itself may be the name of a member: what stands in a pointer must be printable.
        yield Problem("AGENT_FILE_TEXT", message, _pointer(step), "write the character whole")


def _pointer(step: _Step | None) -> str:
    steps: list[str] = []
    while step is not None:
        step, name = step
        steps.append(escape(name))
    text = "".join(f"/{name}" for name in reversed(steps))
    return text.encode(errors="backslashreplace").decode().replace("\0", "\\0")
