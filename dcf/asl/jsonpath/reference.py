"""Reference paths: the one place that a ResultPath names, read or written without mutation."""

from __future__ import annotations

from dcf.asl.errors import RESULT_PATH_MATCH_FAILURE, EvaluationError, ExpressionError
from dcf.asl.jsonpath.absence import SHOWN
from dcf.asl.jsonpath.syntax import parse_path
from dcf.asl.payload import JSON, excerpt


class ReferencePath:
    """A path to exactly one node, such as ``$.order.total`` or ``$.items[0]``."""

    __slots__ = ("text", "tokens")

    def __init__(self, text: str) -> None:
        """Raises ExpressionError unless ``text`` is a reference path into the data."""
        syntax = parse_path(text)
        if not syntax.is_definite or syntax.root != "$":
            raise ExpressionError(
                "ASL_BAD_REFERENCE_PATH",
                f"`{text}` is not a reference path: it must name exactly one place in the data",
                "use fields and indexes only, for example `$.order.total`",
            )
        if any(isinstance(token, int) and token < 0 for token in syntax.tokens):
            raise ExpressionError(
                "ASL_BAD_REFERENCE_PATH",
                f"`{text}` is not a reference path: an index counts from 0",
                "use a non-negative index",
            )
        self.text = text
        self.tokens = syntax.tokens

    def put(self, whole: JSON, value: JSON) -> JSON:
        """``whole`` with ``value`` at this place; missing objects on the way are created.

        Nothing is mutated: objects and arrays on the way are copied, the rest is shared.
        Raises EvaluationError(States.ResultPathMatchFailure) when the place cannot exist.
        """
        try:
            return self._put(whole, 0, value)
        except LookupError:
            cause = f"Unable to apply ReferencePath {self.text} to input {excerpt(whole, SHOWN)}"
            raise EvaluationError(RESULT_PATH_MATCH_FAILURE, cause) from None

    def _put(self, node: JSON, depth: int, value: JSON) -> JSON:
        if depth == len(self.tokens):
            return value
        token = self.tokens[depth]
        if isinstance(token, str):
            if not isinstance(node, dict):
                raise LookupError(token)
            inner = node.get(token, {}) if depth + 1 < len(self.tokens) else None
            return {**node, token: self._put(inner, depth + 1, value)}
        if not isinstance(node, list) or token >= len(node):
            raise LookupError(token)
        copy = list(node)
        copy[token] = self._put(node[token], depth + 1, value)
        return copy
