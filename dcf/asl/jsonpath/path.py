"""JSONPath compiled once into a function of the scope."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from dcf.asl.errors import RUNTIME, EvaluationError
from dcf.asl.evaluation_budget import Budget, LimitReached
from dcf.asl.jsonpath.absence import absent, unassigned
from dcf.asl.jsonpath.functions import NoValue
from dcf.asl.jsonpath.selector import Token, select
from dcf.asl.jsonpath.syntax import PathSyntax, parse_path
from dcf.asl.payload import JSON
from dcf.asl.scope import Expression, Scope

Walk: TypeAlias = Callable[[JSON], JSON]
"""From a root value to what a path selects; raises LookupError or TypeError when absent."""

_ABSENT = (LookupError, TypeError)
_MISSING = (*_ABSENT, NoValue)


def compile_path(
    text: str, field: str, call: str | None = None, *, past_end: bool = False
) -> Expression:
    """``text`` as a function of the scope; ``field`` names the place for failure causes.

    ``call`` is the intrinsic whose argument the path is. A path that can select several values
    gives an array, which is empty where anything on its way is missing; one that names one place
    fails with ``States.Runtime`` there. With ``past_end`` an array has null where it ends before
    the index at the end of the path, as AWS has it in payload templates and nowhere else. Raises
    ExpressionError for a bad path.
    """
    syntax = parse_path(text)
    walk = _compile_walk(syntax, past_end)
    if syntax.variable is not None:
        return _bind_variable(syntax, syntax.variable, walk, field, call)
    if syntax.root == "$$":
        return _bind_context(syntax, walk, field, call)
    if not syntax.tokens and syntax.is_definite:
        return _whole_data
    if syntax.is_definite and len(syntax.tokens) == 1 and isinstance(syntax.tokens[0], str):
        return _bind_member(syntax, syntax.tokens[0], field, call)
    return _bind_data(syntax, walk, field, call)


def _compile_walk(syntax: PathSyntax, past_end: bool) -> Walk:
    if all(isinstance(token, str) for token in syntax.tokens):
        find = _walk_members(syntax.tokens)
    elif past_end and syntax.is_definite and isinstance(syntax.tokens[-1], int):
        find = _walk_to_item(_walk_tokens(syntax.tokens[:-1]), syntax.tokens[-1])
    else:
        find = _walk_tokens(syntax.tokens)
    return find if syntax.is_definite else _walk_selectors(syntax, find)


def _whole_data(scope: Scope) -> JSON:
    return scope.data


def _bind_member(syntax: PathSyntax, name: str, field: str, call: str | None) -> Expression:
    def read(scope: Scope) -> JSON:
        try:
            return scope.data[name]
        except _MISSING:
            raise absent(syntax, field, scope.data, call) from None

    return read


def _bind_data(syntax: PathSyntax, walk: Walk, field: str, call: str | None) -> Expression:
    def read(scope: Scope) -> JSON:
        try:
            return walk(scope.data)
        except _MISSING:
            raise absent(syntax, field, scope.data, call) from None

    return read


def _bind_context(syntax: PathSyntax, walk: Walk, field: str, call: str | None) -> Expression:
    def read(scope: Scope) -> JSON:
        try:
            return walk(scope.context)
        except _MISSING:
            # An intrinsic function tells of the input, wherever the path leads.
            raise absent(syntax, field, scope.context, call, scope.data) from None

    return read


def _bind_variable(
    syntax: PathSyntax, name: str, walk: Walk, field: str, call: str | None
) -> Expression:
    def read(scope: Scope) -> JSON:
        if name not in scope.variables:
            raise unassigned(name, field)
        value = scope.variables[name]
        try:
            return walk(value)
        except _MISSING:
            raise absent(syntax, field, value, call) from None

    return read


def _walk_members(names: tuple[Any, ...]) -> Walk:
    # Indexing anything but an object with a string raises TypeError, so no check is needed.
    def walk(value: JSON) -> JSON:
        for name in names:
            value = value[name]
        return value

    return walk


def _walk_tokens(tokens: tuple[Token, ...]) -> Walk:
    def walk(value: JSON) -> JSON:
        for token in tokens:
            if isinstance(token, int) and not isinstance(value, list):
                raise LookupError(token)
            value = value[token]
        return value

    return walk


def _walk_to_item(find_array: Walk, index: int) -> Walk:
    def walk(value: JSON) -> JSON:
        items = find_array(value)
        if not isinstance(items, list):
            raise LookupError(index)
        return items[index] if -len(items) <= index < len(items) else None

    return walk


def _walk_selectors(syntax: PathSyntax, find: Walk) -> Walk:
    def walk(root: JSON) -> JSON:
        try:
            return select(syntax.selectors, find(root), root, Budget())
        except _ABSENT:
            if syntax.names_one:
                raise
            return []
        except LimitReached as error:
            raise EvaluationError(RUNTIME, f"Invalid path '{syntax.text}' : {error}") from error

    return walk
