"""The problems found while a definition is read, each with its place."""

from __future__ import annotations

from dcf.asl.errors import ExpressionError
from dcf.problem import Problem

NOT_SUPPORTED = "ASL_NOT_SUPPORTED_YET"


class Findings:
    """Collects problems; reading goes on so that one run reports all of them."""

    __slots__ = ("problems",)

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def error(self, code: str, pointer: str, message: str, hint: str = "") -> None:
        self.problems.append(Problem(code, message, pointer, hint))

    def warning(self, code: str, pointer: str, message: str, hint: str = "") -> None:
        self.problems.append(Problem(code, message, pointer, hint, severity="warning"))

    def not_supported(self, pointer: str, what: str, instead: str) -> None:
        self.error(NOT_SUPPORTED, pointer, f"{what} is not supported yet", instead)

    def expression(self, error: ExpressionError, pointer: str) -> None:
        self.error(error.code, pointer, error.message, error.hint)


def child(pointer: str, *parts: str | int) -> str:
    """The JSON pointer of a member below ``pointer``."""
    steps = (str(part).replace("~", "~0").replace("/", "~1") for part in parts)
    return "/".join((pointer, *steps))
