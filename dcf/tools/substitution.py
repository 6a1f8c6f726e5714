"""``${VAR}`` and ``${VAR:-default}`` in the strings of a document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dcf.problem import Problem
from dcf.secret_name import names_a_secret
from dcf.tools.document import pointer

_REFERENCE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")


def substitute(value: Any, env: Mapping[str, str], path: str, problems: list[Problem]) -> Any:
    """``value`` with every reference replaced; one problem for each variable that is not set.

    As in a shell, the default also stands in for a variable that is set but empty. Only values
    are substituted, never keys, and what a variable holds is not substituted again.
    """
    if isinstance(value, str):
        return _substitute_text(value, env, path, problems)
    if isinstance(value, Mapping):
        return {
            key: substitute(item, env, path + pointer([key]), problems)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [
            substitute(item, env, path + pointer([index]), problems)
            for index, item in enumerate(value)
        ]
    return value


def references(value: Any) -> Iterator[str]:
    """The names of the variables that the strings in ``value`` refer to."""
    if isinstance(value, str):
        yield from (reference["name"] for reference in _REFERENCE.finditer(value))
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def _substitute_text(text: str, env: Mapping[str, str], path: str, problems: list[Problem]) -> str:
    def replace(reference: re.Match[str]) -> str:
        name, default = reference["name"], reference["default"]
        found = env.get(name)
        if default is not None:
            return found or default
        if found is None:
            problems.append(
                Problem(
                    "REG_VARIABLE_UNSET",
                    f"the environment variable {name} is not set",
                    path,
                    _hint(name),
                )
            )
            return ""
        return found

    return _REFERENCE.sub(replace, text)


def _hint(name: str) -> str:
    if names_a_secret(name):
        return f"set {name}; a secret has no default in a file"
    return f"set {name}, or write a default: ${{{name}:-value}}"
