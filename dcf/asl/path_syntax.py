"""The text of a JSONPath taken apart into a root and its selectors."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dcf.asl.errors import ExpressionError

BAD_PATH = "ASL_BAD_PATH"

_NAME = re.compile(r"[^.\[\]()'\",*?\s]+")
_INDEX = re.compile(r"-?\d{1,9}")
_QUOTED = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*""", re.DOTALL)

# A wildcard, a filter, a slice, or a union of names, indexes and slices.
_STEP = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|-?\d{1,9}|-?\d{0,9}(?::-?\d{0,9}){1,2})"""
_SEVERAL = re.compile(rf"\*|\?.+|{_STEP}(?:\s*,\s*{_STEP})*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PathSyntax:
    """``root`` is ``$`` or ``$$``; ``tokens`` are names and indexes of a definite path.

    ``query`` is set instead when the path may select several nodes (filter, slice, wildcard,
    union, descendants): a rewritten text for the JSONPath library.
    """

    text: str
    root: str
    tokens: tuple[str | int, ...]
    query: str | None

    @property
    def is_definite(self) -> bool:
        return self.query is None


def parse_path(text: str) -> PathSyntax:
    """Take ``text`` apart; raises ExpressionError when it is no JSONPath."""
    root = "$$" if text.startswith("$$") else "$"
    if not text.startswith("$"):
        raise _bad(text, "a path starts with `$` (the data) or `$$` (the context object)")
    if len(text) > len(root) and text[len(root)] not in ".[":
        if re.match(r"\$[A-Za-z_]", text):
            raise ExpressionError(
                "ASL_NOT_SUPPORTED_YET",
                f"`{text}` reads a variable, and variables are not supported yet",
                "keep the value in the state's data and read it with `$.…`",
            )
        raise _bad(text, f"`{text[len(root)]}` cannot follow `{root}`")
    tokens: list[str | int] = []
    query = "$"
    definite = True
    position = len(root)
    while position < len(text):
        token, rewritten, position = _selector(text, position)
        if token is None:
            definite = False
        else:
            tokens.append(token)
        query += rewritten
    if definite:
        return PathSyntax(text, root, tuple(tokens), None)
    return PathSyntax(text, root, (), query)


def _selector(text: str, position: int) -> tuple[str | int | None, str, int]:
    """One selector at ``position``: its token (None when indefinite), library text, end."""
    if text.startswith("..", position):
        return _descendants(text, position + 2)
    if text[position] == ".":
        position += 1
        if position < len(text) and text[position] == "[":
            return _bracket(text, position)
        return _member(text, position)
    if text[position] == "[":
        return _bracket(text, position)
    raise _bad(text, f"unexpected `{text[position]}` at position {position + 1}")


def _descendants(text: str, position: int) -> tuple[None, str, int]:
    if position < len(text) and text[position] == "[":
        _, rewritten, end = _bracket(text, position)
        return None, f"..{rewritten}", end
    _, rewritten, end = _member(text, position)
    return None, f"..{rewritten}", end


def _member(text: str, position: int) -> tuple[str | None, str, int]:
    if position < len(text) and text[position] == "*":
        return None, "[*]", position + 1
    found = _NAME.match(text, position)
    if found is None:
        raise _bad(text, f"a field name is missing at position {position + 1}")
    name, end = found.group(), found.end()
    if end < len(text) and text[end] == "(":
        raise _bad(text, f"`{name}()` is not available in a path; use an intrinsic function")
    return name, _quote(name), end


def _bracket(text: str, position: int) -> tuple[str | int | None, str, int]:
    end = _closing_bracket(text, position)
    content = text[position + 1 : end].strip()
    after = end + 1
    quoted = _QUOTED.fullmatch(content)
    if quoted is not None:
        quote = content[0]
        raw = quoted.group(1) if quote == "'" else quoted.group(2)
        name = raw.replace(f"\\{quote}", quote).replace("\\\\", "\\")
        return name, _quote(name), after
    if _INDEX.fullmatch(content):
        index = int(content)
        return index, f"[{index}]", after
    if not _SEVERAL.fullmatch(content):
        raise _bad(text, f"`[{content}]` selects nothing")
    return None, f"[{content}]", after


def _closing_bracket(text: str, start: int) -> int:
    depth = 0
    quote = ""
    position = start
    while position < len(text):
        character = text[position]
        if quote:
            if character == "\\":
                position += 1
            elif character == quote:
                quote = ""
        elif character in "'\"":
            quote = character
        elif character == "[":
            depth += 1
        elif character == "]":
            depth -= 1
            if depth == 0:
                return position
        position += 1
    raise _bad(text, "a `[` is never closed")


def _quote(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"['{escaped}']"


def _bad(text: str, why: str) -> ExpressionError:
    return ExpressionError(
        BAD_PATH, f"`{text}` is not a JSONPath: {why}", "write for example `$.order.items[0]`"
    )
