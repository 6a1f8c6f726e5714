"""The evaluator of the JSONata library with limits, and with its slips mended.

The library keeps one evaluator a thread and lets every expression of that thread share it. Here
each evaluation is an object of its own, so that one compiled expression serves many at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dcf.asl.evaluation_budget import MAX_RANGE, Budget
from dcf.asl.jsonata.arithmetic import calculate
from dcf.asl.jsonata.constructors import appended, array_of, grouped, tuples_of
from dcf.asl.jsonata.library import JException, Jsonata, Utils
from dcf.asl.jsonata.predicate import filtered
from dcf.asl.jsonata.shortcut import plain_steps
from dcf.asl.jsonata.text import to_text
from dcf.asl.jsonata.transform import Transform
from dcf.asl.jsonata.value import NULL, defined, equal, weigh
from dcf.asl.jsonata.walking import charge, lookup, truth
from dcf.asl.payload import is_integer
from dcf.asl.scope import Scope

_NOTHING = object()


class Evaluation(Jsonata):  # type: ignore[misc]  # the library is not typed strictly
    """One evaluation: what it reads is in ``scope``, what it may use in ``budget``."""

    def __init__(self, scope: Scope, budget: Budget) -> None:
        # Not the library's constructor: it would parse.
        self.scope = scope
        self.budget = budget
        self.parser = Jsonata.get_parser()
        self.input = None
        self.environment = None

    def run(self, tree: Any, root: Any) -> Any:
        """The library's result, ``None`` when undefined."""
        self.environment = root
        # Higher-order functions of the library find their evaluator here.
        outer = getattr(Jsonata.CURRENT, "jsonata", None)
        Jsonata.CURRENT.jsonata = self
        try:
            return self.eval(tree, None, root)
        finally:
            Jsonata.CURRENT.jsonata = outer

    @property
    def timestamp(self) -> int:
        """What ``$now`` and ``$millis`` tell, in ms since the epoch."""
        return self.scope.moment_ms()

    def get_per_thread_instance(self) -> Evaluation:
        return self

    def eval(self, expr: Any, input: Any, environment: Any) -> Any:
        budget = self.budget
        budget.enter()
        evaluate = _EVALUATE.get(expr.type)
        result = None if evaluate is None else evaluate(self, expr, input, environment)
        if expr.predicate is not None:
            for predicate in expr.predicate:
                result = self.evaluate_filter(predicate.expr, result, environment)
        if expr.group is not None and expr.type != "path":
            result = self.evaluate_group_expression(expr.group, result, environment)
        budget.depth -= 1
        if isinstance(result, Utils.JList) and result.sequence and not result.tuple_stream:
            if expr.keep_array:
                result.keep_singleton = True
            if not result:
                return None
            if len(result) == 1 and not result.keep_singleton:
                return result[0]
        return result

    def evaluate_path(self, expr: Any, input: Any, environment: Any) -> Any:
        plain = plain_steps(expr)
        if plain is None:
            return super().evaluate_path(expr, input, environment)
        first, names = plain
        if first.type == "name":
            value, names = input, (str(first.value), *names)
        else:
            value = self.eval(first, input, environment)
        if isinstance(value, Utils.JList) and (value.tuple_stream or value.outer_wrapper):
            return super().evaluate_path(expr, input, environment)
        for position, name in enumerate(names, 1):
            if type(value) is dict:
                if name not in value:
                    return None
                value = defined(value[name])
            elif isinstance(value, list):
                value = self._members(value, name, position == len(names))
            else:
                return None
        return value

    def evaluate_variable(self, expr: Any, input: Any, environment: Any) -> Any:
        value = super().evaluate_variable(expr, input, environment)
        return value if value is None else defined(value)

    def evaluate_name(self, expr: Any, input: Any, environment: Any) -> Any:
        if type(input) is dict:
            value = input.get(expr.value, _NOTHING)
            return None if value is _NOTHING else defined(value)
        return lookup(input, expr.value)

    def _members(self, values: list[Any], name: str, last: bool) -> Any:
        """The step ``.name`` over an array: what its objects have under ``name``, flattened."""
        found = []
        for item in values:
            value = self.evaluate_name(_Name(name), item, None)
            if isinstance(value, Utils.JList) and value.sequence and len(value) < 2:
                value = value[0] if value else None
            if value is not None:
                found.append(value)
        self.budget.spend(len(found))
        alone = found[0] if last and len(found) == 1 else None
        if isinstance(alone, list) and not Utils.is_sequence(alone):
            return alone
        flat = Utils.create_sequence()
        for value in found:
            if isinstance(value, list) and not getattr(value, "cons", False):
                flat.extend(value)
            else:
                flat.append(value)
        self.budget.spend(len(flat))
        return flat

    def evaluate_step(self, expr: Any, input: Any, environment: Any, last_step: bool) -> Any:
        if expr.type != "sort":
            self.budget.work(8 * len(input))
        result = super().evaluate_step(expr, input, environment, last_step)
        if isinstance(result, list):
            self.budget.spend(len(result))
        return result

    def evaluate_filter(self, predicate: Any, input: Any, environment: Any) -> Any:
        result = filtered(self, predicate, input, environment)
        if isinstance(result, list):
            self.budget.spend(len(result))
        return result

    def evaluate_wildcard(self, expr: Any, input: Any) -> Any:
        weigh(input, self.budget)
        values = list(input.values()) if isinstance(input, dict) else input
        if not isinstance(values, list):
            return Utils.create_sequence()
        found: list[Any] = []
        for value in values:
            found.extend(self.flatten(value, None) if isinstance(value, list) else [value])
        some = [NULL if value is None else value for value in found]
        # A single value stands for itself, but not when it comes out of an array.
        flat = any(isinstance(value, list) for value in values)
        return Utils.JList(some) if flat else Utils.create_sequence_from_iter(some)

    def evaluate_descendants(self, expr: Any, input: Any) -> Any:
        weigh(input, self.budget)
        return super().evaluate_descendants(expr, input)

    def recurse_descendants(self, input: Any, results: Any) -> None:
        super().recurse_descendants(NULL if input is None else input, results)

    def evaluate_numeric_expression(self, lhs: Any, rhs: Any, op: str) -> Any:
        for value, code in ((lhs, "T2001"), (rhs, "T2002")):
            if value is not None and not Utils.is_numeric(value):
                raise JException(code, -1, op, value)
        if lhs is None or rhs is None:
            return None
        return calculate(float(lhs), op, float(rhs))

    def evaluate_equality_expression(self, lhs: Any, rhs: Any, op: str) -> Any:
        if lhs is None or rhs is None:
            return False
        if isinstance(lhs, (dict, list)) and isinstance(rhs, (dict, list)):
            weigh(lhs, self.budget)
            weigh(rhs, self.budget)
        return equal(lhs, rhs) is (op == "=")

    def evaluate_includes_expression(self, lhs: Any, rhs: Any) -> Any:
        if lhs is None or rhs is None:
            return False
        weigh(rhs, self.budget)
        return any(equal(item, lhs) for item in (rhs if isinstance(rhs, list) else [rhs]))

    def evaluate_string_concat(self, lhs: Any, rhs: Any) -> str:
        text = "".join("" if side is None else to_text(side, self.budget) for side in (lhs, rhs))
        self.budget.grow(len(text))
        return text

    def evaluate_range_expression(self, lhs: Any, rhs: Any) -> Any:
        for value, code in ((lhs, "T2003"), (rhs, "T2004")):
            if value is not None and not is_integer(value):
                raise JException(code, -1, value)
        if lhs is None or rhs is None or lhs > rhs:
            return None
        first, last = int(lhs), int(rhs)
        if last - first >= MAX_RANGE:
            raise self.budget.too_big()
        self.budget.spend(last - first + 1, new=True)
        return Utils.create_sequence_from_iter(range(first, last + 1))

    def evaluate_binary(self, expr: Any, input: Any, environment: Any) -> Any:
        operator = expr.value
        if operator not in ("and", "or"):
            return super().evaluate_binary(expr, input, environment)
        if bool(truth(self.eval(expr.lhs, input, environment))) is (operator == "or"):
            return operator == "or"
        return bool(truth(self.eval(expr.rhs, input, environment)))

    def evaluate_unary(self, expr: Any, input: Any, environment: Any) -> Any:
        if expr.value == "[":
            return array_of(self, expr, input, environment)
        return super().evaluate_unary(expr, input, environment)

    def evaluate_group_expression(self, expr: Any, input: Any, environment: Any) -> Any:
        return grouped(self, expr, input, environment)

    def evaluate_tuple_step(self, expr: Any, input: Any, bindings: Any, environment: Any) -> Any:
        if expr.type == "sort":
            return super().evaluate_tuple_step(expr, input, bindings, environment)
        return tuples_of(self, expr, input, bindings, environment)

    def evaluate_transform_expression(self, expr: Any, input: Any, environment: Any) -> Any:
        return Jsonata.JFunction(Transform(self, expr, environment, self.budget), "<(oa):o>")

    def reduce_tuple_stream(self, tuple_stream: Any) -> Any:
        if not isinstance(tuple_stream, list):
            return tuple_stream
        self.budget.work(8 * len(tuple_stream))
        reduced: dict[str, list[Any]] = {}
        for element in tuple_stream:
            self.budget.tick()
            for key, value in element.items():
                if value is not None:
                    reduced.setdefault(key, []).append(value)
        return {key: appended(values, self.budget) for key, values in reduced.items()}

    def apply_inner(self, proc: Any, args: Any, input: Any, environment: Any) -> Any:
        try:
            result = super().apply_inner(proc, args, input, environment)
        except JException as error:
            name = getattr(proc, "function_name", None)
            if error.error == "T0410" and error.current is None:
                raise JException("T0410", -1, 1, name) from error
            if error.error == "T0411" and name is not None and error.expected != name:
                raise JException("T0411", -1, error.expected, name) from error
            raise
        if isinstance(result, str) or isinstance(proc, Jsonata.JFunctionCallable):
            charge(args, result, self.budget)
        else:
            self.budget.tick()
        return result


class _Name:
    __slots__ = ("value",)

    def __init__(self, value: str) -> None:
        self.value = value


_EVALUATE: dict[str, Callable[[Evaluation, Any, Any, Any], Any]] = {
    "path": Evaluation.evaluate_path,
    "binary": Evaluation.evaluate_binary,
    "unary": Evaluation.evaluate_unary,
    "name": Evaluation.evaluate_name,
    "string": lambda self, expr, input, frame: self.evaluate_literal(expr),
    "number": lambda self, expr, input, frame: self.evaluate_literal(expr),
    "value": lambda self, expr, input, frame: self.evaluate_literal(expr),
    "wildcard": lambda self, expr, input, frame: self.evaluate_wildcard(expr, input),
    "descendant": lambda self, expr, input, frame: self.evaluate_descendants(expr, input),
    "parent": lambda self, expr, input, frame: frame.lookup(expr.slot.label),
    "condition": Evaluation.evaluate_condition,
    "block": Evaluation.evaluate_block,
    "bind": Evaluation.evaluate_bind_expression,
    "regex": lambda self, expr, input, frame: self.evaluate_regex(expr),
    "function": lambda self, expr, input, frame: self.evaluate_function(
        expr, input, frame, Utils.NONE
    ),
    "variable": Evaluation.evaluate_variable,
    "lambda": Evaluation.evaluate_lambda,
    "partial": Evaluation.evaluate_partial_application,
    "apply": Evaluation.evaluate_apply_expression,
    "transform": Evaluation.evaluate_transform_expression,
}
"""What evaluates a node of each type."""
