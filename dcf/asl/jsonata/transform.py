"""JSONata's transform operator, ``~> |pattern|update, delete|``, on a copy of its argument."""

from __future__ import annotations

from typing import Any

from dcf.asl.evaluation_budget import Budget
from dcf.asl.jsonata.library import JException, Jsonata, Utils
from dcf.asl.jsonata.value import copied


class Transform(Jsonata.JFunctionCallable):  # type: ignore[misc]
    """The function that one transform expression is."""

    def __init__(self, evaluation: Any, expr: Any, environment: Any, budget: Budget) -> None:
        self._evaluation = evaluation
        self._expr = expr
        self._environment = environment
        self._budget = budget

    def call(self, input: Any, args: Any) -> Any:
        if args[0] is None:
            return None
        whole = copied(args[0], self._budget)
        matches = self._eval(self._expr.pattern, whole)
        for match in matches if isinstance(matches, list) else [matches]:
            if match is not None:
                self._change(match)
        return whole

    def _change(self, match: Any) -> None:
        update = self._eval(self._expr.update, match)
        if update is not None:
            if not isinstance(update, dict):
                raise JException("T2011", self._expr.update.position, update)
            if isinstance(match, dict):
                match.update(update)
        if self._expr.delete is None:
            return
        deleted = self._eval(self._expr.delete, match)
        names = deleted if isinstance(deleted, list) else [] if deleted is None else [deleted]
        if not Utils.is_array_of_strings(names):
            raise JException("T2012", self._expr.delete.position, deleted)
        for name in names:
            if isinstance(match, dict):
                match.pop(name, None)

    def _eval(self, expr: Any, input: Any) -> Any:
        return self._evaluation.eval(expr, input, self._environment)
