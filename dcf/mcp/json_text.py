"""JSON in a text parameter (``*_json``): read in one place."""

from __future__ import annotations

import json
import re
from typing import Any

from control_plane import payload
from dcf.problem import Problem

_FENCE = re.compile(r"\A\s*```[A-Za-z0-9]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


def read_json(name: str, given: Any) -> tuple[Any, Problem | None]:
    """The value in ``given`` (JSON text, or a value that a client sent as such), or what is wrong.

    A fence of Markdown around the text is dropped: models like to write one.
    """
    if not isinstance(given, str):
        return given, None
    fenced = _FENCE.match(given)
    text = fenced.group(1) if fenced else given
    try:
        value = json.loads(text, parse_constant=_refuse)
    except RecursionError:
        return None, _problem(name, f"is nested more than {payload.MAX_DEPTH} levels deep")
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        return None, _problem(name, f"is no JSON: {error.msg} ({where})")
    except ValueError as error:
        return None, _problem(name, f"is no JSON: {error}")
    return value, None


def storable(value: Any) -> str | None:
    """Why ``value`` cannot be kept or sent as JSON; None when it can."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except RecursionError:
        return "it is nested too deeply"
    except UnicodeEncodeError:
        return "it holds half a surrogate pair, which is no text"
    except (TypeError, ValueError) as error:
        return str(error)
    return (
        f"it is nested more than {payload.MAX_DEPTH} levels deep"
        if payload.is_too_deep(value)
        else None
    )


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON number")


def _problem(name: str, message: str) -> Problem:
    hint = "send the text of one JSON value"
    return Problem("MCP_JSON", message, f"/{name}", hint)
