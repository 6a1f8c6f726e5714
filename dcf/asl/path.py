"""JSONPath compiled once into a function; plain field paths never touch the library."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from jsonpath import JSONPathEnvironment, JSONPathError

from dcf.asl.errors import RUNTIME, EvaluationError, ExpressionError
from dcf.asl.path_syntax import BAD_PATH, PathSyntax, parse_path
from dcf.asl.payload import JSON
from dcf.asl.scope import Expression, Scope

Walk: TypeAlias = Callable[[JSON], JSON]
"""From a root value to what a path selects; raises LookupError or TypeError when absent."""

_ENVIRONMENT = JSONPathEnvironment(strict=False)
_MISSING = (LookupError, TypeError)


def compile_path(text: str, field: str) -> Expression:
    """``text`` as a function of the scope; ``field`` names the place for failure causes.

    A path that can select several nodes gives an array, possibly empty. A definite path that
    selects nothing fails with ``States.Runtime``. Raises ExpressionError for a bad path.
    """
    syntax = parse_path(text)
    walk = compile_walk(syntax)
    if syntax.root == "$$":
        if syntax.tokens[:2] == ("Task", "Token"):
            raise ExpressionError(
                "ASL_NOT_SUPPORTED_YET",
                f"`{text}` (callbacks by task token) is not supported yet",
                "use a Task that answers when its work is done",
            )
        return _bind_context(walk, text, field)
    if not syntax.tokens and syntax.is_definite:
        return _whole_data
    if len(syntax.tokens) == 1 and isinstance(syntax.tokens[0], str):
        return _bind_member(syntax.tokens[0], text, field)
    return _bind_data(walk, text, field)


def compile_walk(syntax: PathSyntax) -> Walk:
    """The selecting part alone, without a scope."""
    if syntax.query is not None:
        return _compile_query(syntax.text, syntax.query)
    if all(isinstance(token, str) for token in syntax.tokens):
        return _walk_members(syntax.tokens)
    return _walk_tokens(syntax.tokens)


def _whole_data(scope: Scope) -> JSON:
    return scope.data


def _bind_member(name: str, text: str, field: str) -> Expression:
    def read(scope: Scope) -> JSON:
        try:
            return scope.data[name]
        except _MISSING:
            raise _nothing_there(text, field) from None

    return read


def _bind_data(walk: Walk, text: str, field: str) -> Expression:
    def read(scope: Scope) -> JSON:
        try:
            return walk(scope.data)
        except _MISSING:
            raise _nothing_there(text, field) from None

    return read


def _bind_context(walk: Walk, text: str, field: str) -> Expression:
    def read(scope: Scope) -> JSON:
        try:
            return walk(scope.context)
        except _MISSING:
            raise _nothing_there(text, field) from None

    return read


def _walk_members(names: tuple[Any, ...]) -> Walk:
    # Indexing anything but an object with a string raises TypeError, so no check is needed.
    def walk(value: JSON) -> JSON:
        for name in names:
            value = value[name]
        return value

    return walk


def _walk_tokens(tokens: tuple[str | int, ...]) -> Walk:
    def walk(value: JSON) -> JSON:
        for token in tokens:
            if isinstance(token, int) and not isinstance(value, list):
                raise LookupError(token)
            value = value[token]
        return value

    return walk


def _compile_query(text: str, query: str) -> Walk:
    try:
        compiled = _ENVIRONMENT.compile(query)
    except (JSONPathError, RecursionError, re.error) as error:
        reason = str(error).splitlines()[0]
        raise ExpressionError(
            BAD_PATH,
            f"`{text}` is not a JSONPath: {reason}",
            "write for example `$.items[?(@.price > 10)]` or `$.items[*].name`",
        ) from error

    def walk(value: JSON) -> JSON:
        try:
            return list(compiled.findall(value)) if isinstance(value, (dict, list)) else []
        except (JSONPathError, RecursionError) as error:
            cause = f"the path `{text}` could not be evaluated: {error}"
            raise EvaluationError(RUNTIME, cause) from error

    return walk


def _nothing_there(text: str, field: str) -> EvaluationError:
    return EvaluationError(RUNTIME, f"{field}: the path `{text}` finds nothing in its data")
