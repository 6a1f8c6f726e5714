"""Reading a JSON or YAML file whose problems are reported with file and line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcf.problem import Problem
from dcf.regular_file import read_regular
from dcf.tools.errors import InvalidDocument

if TYPE_CHECKING:
    from yaml import Node


def read_document(path: Path, prefix: str) -> tuple[str, Any]:
    """The text of a file and the value in it; by its suffix JSON, else YAML.

    Raises ``InvalidDocument`` with ``{prefix}_MISSING`` or ``{prefix}_SYNTAX``.
    """
    try:
        text = read_regular(path).decode("utf-8")
    except FileNotFoundError:
        missing = Problem(
            f"{prefix}_MISSING", "there is no such file", hint="run `dcf skills generate`"
        )
        raise InvalidDocument([missing.at(file=str(path))]) from None
    except (OSError, UnicodeDecodeError) as error:
        unreadable = Problem(f"{prefix}_MISSING", f"cannot be read: {error}")
        raise InvalidDocument([unreadable.at(file=str(path))]) from None
    return text, parse_text(text, path, prefix)


def parse_text(text: str, path: Path, prefix: str) -> Any:
    """The value in ``text``; raises ``InvalidDocument`` with the line of a syntax error."""
    if path.suffix == ".json":
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            problem = Problem(f"{prefix}_SYNTAX", f"not JSON: {error.msg}")
            place = problem.at(file=str(path), line=error.lineno, column=error.colno)
            raise InvalidDocument([place]) from None
        except (ValueError, RecursionError) as error:
            raise _unreadable(error, path, prefix) from None
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or "it cannot be parsed"
        problem = Problem(f"{prefix}_SYNTAX", f"not YAML: {reason}").at(file=str(path))
        if mark is not None:
            problem = problem.at(line=mark.line + 1, column=mark.column + 1)
        raise InvalidDocument([problem]) from None
    except (ValueError, RecursionError) as error:
        raise _unreadable(error, path, prefix) from None


def _unreadable(error: Exception, path: Path, prefix: str) -> InvalidDocument:
    deep = isinstance(error, RecursionError)
    reason = "its values are nested too deep" if deep else f"it holds no value: {error}"
    problem = Problem(f"{prefix}_SYNTAX", reason, hint="run `dcf skills generate`")
    return InvalidDocument([problem.at(file=str(path))])


def placed(problems: Iterable[Problem], path: Path, text: str) -> list[Problem]:
    """The same problems with the file and, where the path is found in ``text``, the line."""
    lines = _lines(text)
    return [
        problem.at(file=str(path), line=_nearest_line(problem.path, lines)) for problem in problems
    ]


def pointer(parts: Iterable[object]) -> str:
    """A JSON pointer from its unescaped parts."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def _nearest_line(path: str, lines: dict[str, int]) -> int | None:
    """The line of the member, or of the closest member around it that exists."""
    while path and path not in lines:
        path = path.rpartition("/")[0]
    return lines.get(path)


def _lines(text: str) -> dict[str, int]:
    """The line of each member by pointer. JSON is near enough to YAML to be read as it."""
    import yaml

    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return {}
    found: dict[str, int] = {}
    if root is not None:
        _collect(root, "", found)
    return found


def _collect(node: Node, path: str, found: dict[str, int]) -> None:
    import yaml

    found.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            child = path + pointer([key.value])
            found[child] = key.start_mark.line + 1
            _collect(value, child, found)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            _collect(item, path + pointer([index]), found)
