"""Directions in words: ``go to step 4``, ``continue``, ``finish``, ``stop with Declined: …``."""

from __future__ import annotations

import re

from dcf.sop.direction import CONTINUE, Continue, Direction, Finish, GoTo, Stop
from dcf.sop.language.phrase import (
    ERROR_NAME,
    STEP_NUMBER,
    Unreadable,
    bare,
    masked,
    quoted,
    unquoted,
)

STARTS = (
    r"(?:go|goto|jump|skip|return|proceed|continue|carry on|stop|fail|finish|end|give up|abort)\b"
)
_GO = re.compile(
    r"(?:goto|go(?: back| on| ahead)?(?: to| with| at)?"
    r"|(?:jump|skip|return|proceed|move|continue)(?: back| on| ahead)? (?:to|with|at))"
    rf"(?: step (?P<step>{STEP_NUMBER})| (?P<bare>[0-9]+[a-z]?(?:\.[0-9]+[a-z]?)*))"
)
_CONTINUE = re.compile(
    r"(?:continue|go on|carry on|proceed)(?: anyway)?(?: (?:with|to) the next step)?(?: anyway)?"
)
_FINISH = re.compile(r"(?:finish|end|we are done)(?: here|(?P<procedure> the procedure))?")
_SKIP = re.compile(r"(?:skip|leave out|omit)\b")
_STOP = re.compile(
    r"(?:stop|fail|give up|abort)(?: here| the procedure)?"
    rf"(?: with (?P<error>_+|{ERROR_NAME}))?(?P<cause>\s*:.*)?"
)
_HINT = "write `go to step 4`, `continue`, `finish` (ends well) or `stop with SomeError: why`"


def read_direction(text: str) -> Direction:
    """Raises ``Unreadable``. The number of a step is taken as it is written."""
    text = text.strip().rstrip(".;").strip()
    text = re.sub(r"^then\s+", "", text, flags=re.IGNORECASE)
    hidden = " ".join(masked(text).split(" "))
    found = _GO.fullmatch(hidden)
    if found:
        return GoTo(found["step"] or found["bare"])
    if _CONTINUE.fullmatch(hidden):
        return CONTINUE
    found = _FINISH.fullmatch(hidden)
    if found:
        return Finish(of_procedure=found["procedure"] is not None)
    found = _STOP.fullmatch(hidden)
    if found:
        error = bare(text[slice(*found.span("error"))]) if found["error"] else ""
        return Stop(_error_name(error), _cause(text, found))
    hint = _HINT
    if _SKIP.match(hidden):
        hint = "write `go to step 4` with the step after those that are left out"
    raise Unreadable("SOP_DIRECTION", f"{text!r} does not say where to go on", hint)


def _error_name(name: str) -> str:
    if name and not re.fullmatch(ERROR_NAME, name):
        hint = "letters, digits and dots, as in CardDeclined or DCF.ToolTimeout"
        raise Unreadable("SOP_DIRECTION", f"{name!r} is no name of an error", hint)
    return name


def _cause(text: str, found: re.Match[str]) -> str:
    if not found["cause"]:
        return ""
    cause = text[slice(*found.span("cause"))].strip()[1:].strip()
    if re.fullmatch(r'"(?:[^"\\]|\\.)*"', cause):
        try:
            return unquoted(cause)
        except ValueError:
            hint = 'inside double quotes write \\" for a quote and \\\\ for a backslash'
            raise Unreadable("SOP_DIRECTION", f"{cause} cannot be read", hint) from None
    return cause


def print_direction(direction: Direction) -> str:
    """As ``read_direction`` reads it."""
    match direction:
        case GoTo(step):
            return f"go to step {step}"
        case Continue():
            return "continue"
        case Finish():
            return "finish"
        case Stop(error, cause):
            named = f" with {print_error(error)}" if error else ""
            return f"stop{named}{f': {quoted(cause)}' if cause else ''}"


def print_error(name: str) -> str:
    """An error name; in backticks where it would pass for an ordinary word."""
    return name if re.match(r"[A-Z]", name) else f"`{name}`"
