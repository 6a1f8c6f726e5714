"""Handlers named on a command line: ``module:attribute``, a dict from Resource to handler."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Sequence

from dcf.problem import Problem
from dcf.worker.performer import Handler

_HINT = "name a dict[str, async function]: package.module:HANDLERS"


class InvalidHandlers(Exception):
    """What was named is no dict of handlers; ``problems`` says why."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(problem.message for problem in self.problems))


def import_handlers(name: str) -> dict[str, Handler]:
    """The handlers that ``name`` (``module:attribute``) refers to. Raises InvalidHandlers."""
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise InvalidHandlers([_problem(name, f"{name!r} is not of the form module:attribute")])
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        reason = f"module {module_name} cannot be imported: {type(error).__name__}: {error}"
        raise InvalidHandlers([_problem(name, reason)]) from error
    found = getattr(module, attribute, None)
    if not isinstance(found, dict):
        what = "has no attribute" if found is None else "has no dict"
        raise InvalidHandlers([_problem(name, f"module {module_name} {what} {attribute!r}")])
    problems = [
        _problem(name, f"the handler of {resource!r} is no async function")
        for resource, handler in found.items()
        if not isinstance(resource, str) or not _is_handler(handler)
    ]
    if problems:
        raise InvalidHandlers(problems)
    return dict(found)


def _is_handler(value: object) -> bool:
    return inspect.iscoroutinefunction(value) or (
        callable(value) and inspect.iscoroutinefunction(type(value).__call__)
    )


def _problem(name: str, message: str) -> Problem:
    return Problem("CLI_HANDLERS", message, hint=_HINT, file=f"--handlers {name}")
