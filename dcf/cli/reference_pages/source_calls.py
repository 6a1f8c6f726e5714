"""Reads DCF's own source for the calls that name a code: which code, which text, which hint.

There is no table of problems beside the code that finds them; this reads the code instead.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import control_plane
import dcf

_HOLE = "…"
# Where the message stands after the code, by the name of what is called; 1 for all others.
_MESSAGE_AFTER = {"error": 2, "warning": 2, "wrong": 2}
# Where the hint stands after the message.
_HINT_AFTER = {"Problem": 2}


@dataclass(frozen=True, slots=True)
class CodeCall:
    """One place that reports ``code``. ``message`` and ``hint`` are "" where they are computed."""

    code: str
    message: str
    hint: str
    warning: bool
    room: str


@cache
def source_trees() -> tuple[tuple[str, ast.Module], ...]:
    """(room, syntax tree) of every module of DCF, in order of path."""
    found = []
    for package in (control_plane, dcf):
        root = Path(package.__path__[0])
        for file in sorted(root.rglob("*.py")):
            inner = file.relative_to(root).parts
            room = f"{package.__name__}.{inner[0]}" if len(inner) > 1 else package.__name__
            found.append((room, ast.parse(file.read_text(encoding="utf-8"))))
    return tuple(found)


def code_calls(codes: frozenset[str]) -> Iterator[CodeCall]:
    """Every call that has one of ``codes`` among its arguments."""
    names = _constants(codes)
    for room, tree in source_trees():
        for function, call in _calls(tree):
            for at, argument in enumerate(call.args):
                code = _code(argument, codes, names)
                if code:
                    yield _read(code, at, call, function, room)


def text_of(node: ast.expr | None, function: ast.AST | None, line: int) -> str:
    """The text ``node`` stands for, computed parts as an ellipsis; "" when all is computed."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        text = "".join(map(_piece, node.values)).replace(_HOLE * 2, _HOLE)
        return text if text.strip(_HOLE + " :") else ""
    if isinstance(node, ast.BinOp):
        sides = [text_of(side, function, line) for side in (node.left, node.right)]
        return "".join(side or _HOLE for side in sides) if any(sides) else ""
    if isinstance(node, ast.Name) and function is not None:
        return text_of(_assigned(node.id, function, line), None, line)
    return ""


def _piece(part: ast.expr) -> str:
    """A part of an f-string: its text, the page that `docs_page` names, or a hole."""
    if isinstance(part, ast.Constant):
        return str(part.value)
    inner = part.value if isinstance(part, ast.FormattedValue) else part
    if isinstance(inner, ast.Call) and called_name(inner) == "docs_page":
        return f"docs/{text_of(inner.args[0], None, 0)}"
    return _HOLE


def called_name(call: ast.Call) -> str:
    """The last word of what is called."""
    target = call.func
    if isinstance(target, ast.Attribute):
        return target.attr
    return target.id if isinstance(target, ast.Name) else ""


def _read(code: str, at: int, call: ast.Call, function: ast.AST | None, room: str) -> CodeCall:
    name = called_name(call)
    message_at = at + _MESSAGE_AFTER.get(name, 1)
    named = {word.arg: word.value for word in call.keywords}

    def text(place: int, keyword: str) -> str:
        node = named.get(keyword) or (call.args[place] if place < len(call.args) else None)
        return text_of(node, function, call.lineno)

    severities = [*call.args[message_at:], *named.values()]
    warning = name == "warning" or any(
        isinstance(node, ast.Constant) and node.value == "warning" for node in severities
    )
    hint = text(message_at + _HINT_AFTER.get(name, 1), "hint")
    return CodeCall(
        code,
        text(message_at, "message"),
        "" if hint in ("warning", "error") else hint,
        warning,
        room,
    )


def _calls(tree: ast.Module) -> Iterator[tuple[ast.AST | None, ast.Call]]:
    """Each call with the innermost function around it."""

    waiting: list[tuple[ast.AST, ast.AST | None]] = [(tree, None)]
    while waiting:  # in the order of the source
        node, function = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function = node
        if isinstance(node, ast.Call):
            yield function, node
        inner = [(child, function) for child in ast.iter_child_nodes(node)]
        waiting.extend(reversed(inner))


def _constants(codes: frozenset[str]) -> dict[str, str]:
    """Names of module constants that stand for a code."""
    found: dict[str, str] = {}
    for _, tree in source_trees():
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                value = node.value.value
                if isinstance(value, str) and value in codes:
                    found |= {t.id: value for t in node.targets if isinstance(t, ast.Name)}
    return found


def _code(node: ast.expr, codes: frozenset[str], names: dict[str, str]) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in codes:
        return node.value
    return names.get(node.id, "") if isinstance(node, ast.Name) else ""


def _assigned(name: str, function: ast.AST, line: int) -> ast.expr | None:
    """What was last assigned to ``name`` in ``function`` before ``line``."""
    last = None
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and node.lineno < line:
            for target in node.targets:
                if isinstance(target, ast.Name) and target.id == name:
                    last = node if last is None or node.lineno > last.lineno else last
    return last.value if last is not None else None
