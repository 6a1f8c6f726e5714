"""Paths into a document: a small grammar that is read here, never by Redis.

A path is ``$`` (or nothing, or ``.``) for the root, then members (``.name``, ``["any name"]``) and
elements (``[0]``, ``[-1]`` from the end). The first member needs neither ``$`` nor dot: ``a.b[0]``.
Wildcards, slices, filters and descents (``..``) are refused: a path leads to one place.
"""

from __future__ import annotations

import json
import re
from typing import Final

from dcf.workspace.errors import BadPath

Step = str | int
"""A member's name or an element's number."""
Path = tuple[Step, ...]

MAX_CHARACTERS: Final = 2048
MAX_STEPS: Final = 100

# What may stand in a name without quotes: no separators, no signs of richer path languages.
_NAME = re.compile(r"""[^.\[\]()'"*?@,\\\s\x00-\x1f\x7f]+""")
_INDEX = re.compile(r"\[\s*(-?[0-9]{1,9})\s*\]")
_DOUBLE = re.compile(r'\[\s*("(?:[^"\\\x00-\x1f]|\\.)*")\s*\]')
_SINGLE = re.compile(r"\[\s*'((?:[^'\\\x00-\x1f]|\\.)*)'\s*\]")
_SIMPLE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def parse_path(text: str) -> Path:
    """The steps of ``text``. Raises BadPath.

    >>> parse_path('$.a.b[0]["x y"]')
    ('a', 'b', 0, 'x y')
    >>> parse_path("a.b") == parse_path("$.a.b") == parse_path("$['a']['b']")
    True
    >>> parse_path("$")
    ()
    """
    if len(text) > MAX_CHARACTERS:
        raise BadPath(path=text[:40] + "…", rule=f"it is longer than {MAX_CHARACTERS} characters")
    body = text.strip()
    if body in ("", ".", "$"):
        return ()
    steps = _steps(text, _with_first_dot(body))
    if len(steps) > MAX_STEPS:
        raise BadPath(path=text[:40] + "…", rule=f"it has more than {MAX_STEPS} steps")
    for step in steps:
        _check_text(text, step)
    return steps


def show_path(path: Path) -> str:
    """``path`` as a text that ``parse_path`` reads back.

    >>> show_path(("a", 0, "x y"))
    '$.a[0]["x y"]'
    """
    shown = "$"
    for step in path:
        if isinstance(step, int):
            shown += f"[{step}]"
        elif _SIMPLE.fullmatch(step):
            shown += f".{step}"
        else:
            shown += f"[{json.dumps(step, ensure_ascii=False)}]"
    return shown


def _with_first_dot(body: str) -> str:
    """``body`` without ``$``, each member with its dot."""
    if body.startswith(("$.", "$[")):
        return body[1:]
    return body if body.startswith((".", "[")) else f".{body}"


def _steps(text: str, body: str) -> Path:
    steps: list[Step] = []
    at = 0
    while at < len(body):
        step, at = _step(text, body, at)
        steps.append(step)
    return tuple(steps)


def _step(text: str, body: str, at: int) -> tuple[Step, int]:
    """The step at ``at`` and where the next begins."""
    if body[at] == ".":
        match = _NAME.match(body, at + 1)
        if match:
            return match[0], match.end()
        rule = 'after a dot stands a name; other names are written ["…"], and one place is meant'
        raise BadPath(path=text, rule=rule)
    if match := _INDEX.match(body, at):
        return int(match[1]), match.end()
    if match := _DOUBLE.match(body, at):
        return _unquoted(text, match[1]), match.end()
    if match := _SINGLE.match(body, at):
        inside = re.sub(r'\\\'|"', lambda found: {"\\'": "'", '"': '\\"'}[found[0]], match[1])
        return _unquoted(text, f'"{inside}"'), match.end()
    raise BadPath(path=text, rule=f"nothing known begins at character {at + 1}: {body[at:][:12]!r}")


def _unquoted(text: str, quoted: str) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError as error:
        raise BadPath(path=text, rule="a quoted name uses the escapes of JSON") from error


def _check_text(text: str, step: Step) -> None:
    """Raises BadPath for a name that no document can hold."""
    try:
        str(step).encode()
    except UnicodeEncodeError as error:
        raise BadPath(path=ascii(text), rule="it has half of a surrogate pair") from error
