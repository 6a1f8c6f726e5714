"""What every tool answers: ``{status, error, …}``, and how an exception becomes it; all in here."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from dcf.mcp.error_code import code_of, hint_of
from dcf.problem import Problem

log = logging.getLogger(__name__)

Legacy = Literal["ok", "success"]
"""Which flags of the earlier server a tool's answer carries: ``ok`` and ``exit_code``, or
``success``."""

FAILED_EXIT = 4
_BAD_ARGUMENTS = "bad_arguments"
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.]*(: |$)")
_LONGEST = 4_000
_CREDENTIALS = re.compile(r"(?<=://)[^\s/@]*@")


class Envelope(TypedDict, total=False):
    """What is in every answer. ``error`` is null when it worked."""

    status: Annotated[str | None, Field(description="What happened; null when nothing did.")]
    error: Annotated[str | None, Field(description='"code: message", or null.')]
    hint: Annotated[str, Field(description="What would help.")]
    problems: Annotated[list[dict[str, Any]], Field(description="Everything that is wrong.")]
    warnings: Annotated[list[Any], Field(description="What was ignored or is doubtful.")]


class Refused(Exception):
    """What was asked for cannot be, as things stand: an expected answer, no defect.

    ``fields`` go into the answer beside ``error``.
    """

    def __init__(self, code: str, message: str = "", *, hint: str = "", **fields: Any) -> None:
        super().__init__(message)
        self.code, self.message, self.hint, self.fields = code, message, hint, fields


class BadArguments(Exception):
    """The arguments of a call are wrong; ``problems`` has all that is."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(brief(self.problems))


def answer(
    fields: dict[str, Any], *, legacy: Legacy | None, warnings: Sequence[str]
) -> dict[str, Any]:
    """The answer of a tool that returned ``fields``."""
    error = fields.get("error")
    whole = {"status": None if error else "ok", "error": None, **fields}
    if isinstance(error, str) and not _CODE.match(error):
        # A function that others call too, and that answers in sentences.
        whole["error"] = _text("failed", error)
    if warnings:
        whole["warnings"] = [*fields.get("warnings", ()), *warnings]
    return _flagged(whole, legacy)


def failure(
    error: BaseException,
    *,
    legacy: Legacy | None,
    warnings: Sequence[str],
    new_id: Callable[[], str],
) -> dict[str, Any]:
    """The answer of a tool that raised ``error``. What is not foreseen is logged under an id that
    the answer names, and nothing else of it goes out."""
    fields = _explained(error) or _defect(error, new_id())
    hint = hint_of(fields["error"], fields.get("hint", ""))
    if hint:
        fields["hint"] = hint
    whole = {"status": None, **fields}
    if warnings:
        whole["warnings"] = list(warnings)
    return _flagged(whole, legacy)


def _explained(error: BaseException) -> dict[str, Any] | None:
    if isinstance(error, Refused):
        fields = {"error": _text(error.code, error.message), **error.fields}
        if error.code == _BAD_ARGUMENTS:
            problem = Problem("MCP_ARGUMENT", error.message)
            fields.setdefault("problems", [problem_view(problem)])
        return {**fields, "hint": error.hint} if error.hint else fields
    if isinstance(error, BadArguments):
        return _said(_BAD_ARGUMENTS, str(error), error.problems)
    if isinstance(error, TimeoutError):
        return _said("timeout", str(error) or "the call took too long")
    code = getattr(error, "code", None) or getattr(error, "error", None)
    if isinstance(code, str) and type(error).__module__.startswith(("dcf.", "control_plane")):
        said = _said(code, str(error), getattr(error, "problems", ()))
        hint = getattr(error, "hint", "")
        return {**said, "hint": hint} if isinstance(hint, str) and hint else said
    if isinstance(error, OSError) and error.filename is not None:
        return _said("system_error", f"{error.filename}: {error.strerror or type(error).__name__}")
    return None


def _said(code: str, message: str, problems: Sequence[Any] = ()) -> dict[str, Any]:
    found = [problem for problem in problems if isinstance(problem, Problem)]
    if found and f"[{found[0].code}]" in message:
        # All of them in full, for people; here they come as problems.
        message = brief(found)
    # Some errors begin with their name, for those who see nothing else of them.
    message = message.removeprefix(f"{code}: ")
    said: dict[str, Any] = {"error": _text(code_of(code, found), message)}
    return {**said, "problems": [problem_view(one) for one in found]} if found else said


def problem_view(problem: Problem) -> dict[str, Any]:
    """A problem with what it has: callers pay for each word."""
    return {name: part for name, part in problem.to_dict().items() if part not in (None, "")}


def _defect(error: BaseException, id_: str) -> dict[str, Any]:
    log.error("defect %s in a tool", id_, exc_info=error)
    message = "the server has a defect here; its log has the details under this id"
    return {"error": _text("internal_error", f"{message}: {id_}"), "error_id": id_}


def _text(code: str, message: str) -> str:
    plain = _CREDENTIALS.sub("", message)
    # Half a surrogate pair cannot be sent.
    plain = plain.encode("utf-8", "backslashreplace").decode()
    if len(plain) > _LONGEST:
        plain = f"{plain[:_LONGEST]}…"
    return f"{code}: {plain}" if plain else code


def brief(problems: Sequence[Problem]) -> str:
    """The first few of them in one line; the answer's ``problems`` has them all."""
    return "; ".join(_short(problem) for problem in problems[:5])


def _short(problem: Problem) -> str:
    return f"{problem.path.lstrip('/')}: {problem.message}" if problem.path else problem.message


def _flagged(whole: dict[str, Any], legacy: Legacy | None) -> dict[str, Any]:
    good = not whole.get("error")
    if legacy == "ok":
        whole.setdefault("ok", good)
        whole.setdefault("exit_code", 0 if good else FAILED_EXIT)
    elif legacy == "success":
        whole.setdefault("success", good)
    return whole
