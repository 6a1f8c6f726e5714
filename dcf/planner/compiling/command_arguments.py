"""The arguments of a Task that runs a command: each value fills one argument, or fails the Task."""

from __future__ import annotations

from typing import Any

from dcf.planner.compiling.expression import Names, literal, value_of, wrapped
from dcf.sop import Argument, ArgumentList, Placeholder

_UNSEEN = r"/[\x00-\x1f\x7f]/"
_UPWARDS = r"/(^|\/)\.\.(\/|$)/"


def command_arguments(runs: ArgumentList, names: Names, timeout_s: int | None) -> dict[str, Any]:
    """``{argv, timeout_s}`` for the tool that runs commands; ``timeout_s`` in seconds, the usual
    where it is None."""
    found: dict[str, Any] = {"argv": []}
    options_end = False
    for argument in runs.arguments:
        found["argv"].append(_filled(argument, names, options_end=options_end))
        options_end = options_end or argument == ("--",)
    if timeout_s is not None:
        found["timeout_s"] = timeout_s
    return found


def _filled(argument: Argument, names: Names, *, options_end: bool) -> str:
    texts = [part for part in argument if isinstance(part, str)]
    if len(texts) == len(argument):
        text = "".join(texts)
        # A text that looks like an expression is none.
        return wrapped(literal(text)) if "{%" in text or "%}" in text else text
    steps: list[str] = []
    parts: list[str] = []
    for at, part in enumerate(argument):
        if isinstance(part, str):
            parts.append(literal(part))
            continue
        begins = at == 0 and not options_end
        steps += _checks(f"$v{at}", part, names, begins=begins, alone=len(argument) == 1)
        parts.append(f"$v{at}")
    return wrapped(f"({'; '.join([*steps, ' & '.join(parts)])})")


def _checks(
    variable: str, value: Placeholder, names: Names, *, begins: bool, alone: bool
) -> list[str]:
    """Take the value as a text that is neither an option, nor empty, nor several lines."""
    name = value.name
    wanted = [
        (f"$type({variable}) in ['string', 'number', 'boolean']", "has no value that is a text"),
        (f"$string({variable}) != ''", "is empty"),
        (f"$not($contains($string({variable}), {_UNSEEN}))", "has line breaks or the like"),
    ]
    if begins:
        wanted.append((f"$substring($string({variable}), 0, 1) != '-'", "would be an option"))
    if not alone:
        wanted.append((f"$not($contains($string({variable}), {_UPWARDS}))", "leads out by .."))
    return [
        f"{variable} := {value_of(name, names)}",
        *(f"$assert({test}, {literal(f'{name} {why}')})" for test, why in wanted),
        f"{variable} := $string({variable})",
    ]
