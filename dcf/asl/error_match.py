"""``ErrorEquals``: which error names a retrier or catcher stands for."""

from __future__ import annotations

from dataclasses import dataclass

from control_plane import error_of
from dcf.asl.errors import (
    ALL,
    DATA_LIMIT_EXCEEDED,
    HEARTBEAT_TIMEOUT,
    RUNTIME,
    TASK_FAILED,
    TIMEOUT,
)
from dcf.asl.payload import excerpt
from dcf.asl.reading.findings import child
from dcf.asl.reading.node import Node

BAD_ERRORS = "ASL_BAD_ERROR_EQUALS"


@dataclass(frozen=True, slots=True)
class ErrorNames:
    """The names of one ``ErrorEquals``, cut as error names are.

    ``States.Runtime`` is never matched: it always ends the execution.
    ``States.DataLimitExceeded`` is matched by its own name only.
    ``States.TaskFailed`` stands for every error but ``States.Timeout``, which in turn stands
    for a missed heartbeat too.
    """

    names: frozenset[str]

    def match(self, error: str | None) -> bool:
        if error == RUNTIME:
            return False
        if error in self.names:
            return True
        if error == DATA_LIMIT_EXCEEDED:
            return False
        if ALL in self.names:
            return True
        if error == HEARTBEAT_TIMEOUT and TIMEOUT in self.names:
            return True
        return TASK_FAILED in self.names and error != TIMEOUT


def read_error_names(node: Node, last: bool) -> ErrorNames:
    """The ``ErrorEquals`` of a retrier or catcher; ``last``: nothing follows it."""
    if "ErrorEquals" not in node:
        node.missing("ErrorEquals", "`ErrorEquals` is missing", "name the errors")
        return ErrorNames(frozenset())
    values = node.array("ErrorEquals")
    if values is None:
        return ErrorNames(frozenset())
    if not values:
        node.error(BAD_ERRORS, "ErrorEquals", "`ErrorEquals` is empty", "name at least one error")
    names: set[str] = set()
    for index, value in enumerate(values):
        if isinstance(value, str):
            names.add(error_of(value) or value)
        else:
            place = child(node.place("ErrorEquals"), index)
            message = f"an error name is a string, found {excerpt(value)}"
            node.findings.error(
                "ASL_WRONG_TYPE", place, message, hint="write each error name as a text in quotes"
            )
    _check_catch_all(node, values, last)
    return ErrorNames(frozenset(names))


def _check_catch_all(node: Node, values: list[object], last: bool) -> None:
    if ALL not in values:
        return
    if len(values) > 1:
        node.error(
            BAD_ERRORS,
            "ErrorEquals",
            f"`{ALL}` stands beside other names",
            f"`{ALL}` already covers them: leave it alone in `ErrorEquals`",
        )
    if not last:
        node.error(
            BAD_ERRORS,
            "ErrorEquals",
            f"what follows `{ALL}` is never reached",
            f"move the entry with `{ALL}` to the end",
        )
