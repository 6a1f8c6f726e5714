"""Choice rules compiled into predicates: comparisons, And, Or and Not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from dcf.asl.comparison import OPERATORS, Operator, operand_fits
from dcf.asl.dataflow import read_path
from dcf.asl.errors import RUNTIME, EvaluationError
from dcf.asl.fields import closest_hint
from dcf.asl.node import Node
from dcf.asl.path_syntax import parse_path
from dcf.asl.payload import MAX_DEPTH, excerpt
from dcf.asl.scope import Expression, Scope

BAD_RULE = "ASL_BAD_CHOICE_RULE"

Predicate: TypeAlias = Callable[[Scope], bool]

_COMBINATIONS = ("And", "Or", "Not")
_PATH_OPERATORS = {f"{name}Path": operator for name, operator in OPERATORS.items() if operator.path}
_ALL_OPERATORS = {*OPERATORS, *_PATH_OPERATORS, "IsPresent", *_COMBINATIONS}


@dataclass(frozen=True, slots=True)
class ChoiceRule:
    """When ``matches`` holds, go to ``next``."""

    matches: Predicate
    next: str


def read_rule(node: Node) -> ChoiceRule | None:
    """A top-level rule with its ``Next``; None when it has errors."""
    target = node.text("Next", filled=True)
    if "Next" not in node:
        node.error("ASL_MISSING_FIELD", "", "a choice rule needs `Next`", "name the next state")
    predicate = _read_predicate(node, {"Next", "Comment"}, MAX_DEPTH)
    if predicate is None or target is None:
        return None
    return ChoiceRule(predicate, target)


def _read_predicate(node: Node, besides: set[str], depth: int) -> Predicate | None:
    if depth == 0:
        node.error(
            "ASL_TOO_DEEP",
            "",
            f"choice rules nest deeper than {MAX_DEPTH}",
            hint="nest less: at most 100 levels",
        )
        return None
    for field, what, instead in _LATER:
        if field in node:
            node.findings.not_supported(node.place(field), what, instead)
            return None
    found = [name for name in node.value if name in _ALL_OPERATORS]
    _refuse_others(node, found, besides)
    if len(found) != 1:
        listed = ", ".join(f"`{name}`" for name in found) or "none"
        node.error(
            BAD_RULE,
            "",
            f"a choice rule has exactly one operator, found {listed}",
            "combine several comparisons with `And` or `Or`",
        )
        return None
    name = found[0]
    if name == "Not":
        return _read_not(node, depth)
    if name in _COMBINATIONS:
        return _read_combination(node, name, depth)
    return _read_comparison(node, name)


_LATER = (
    ("Condition", "the JSONata field `Condition`", "use `Variable` with a comparison operator"),
    ("Assign", "`Assign` (variables)", "keep the value in the state's data with `ResultPath`"),
    ("Output", "the JSONata field `Output`", "use `OutputPath` on the state"),
)


def _refuse_others(node: Node, operators: list[str], besides: set[str]) -> None:
    combination = any(name in _COMBINATIONS for name in operators)
    allowed = {*operators, *besides} if combination else {*operators, *besides, "Variable"}
    for field in node.value:
        if field in allowed:
            continue
        message = f"`{field}` does not belong into this choice rule"
        node.error("ASL_UNKNOWN_FIELD", field, message, closest_hint(field, _ALL_OPERATORS))


def _read_not(node: Node, depth: int) -> Predicate | None:
    inner = node.node("Not")
    predicate = _read_predicate(inner, {"Comment"}, depth - 1) if inner is not None else None
    if predicate is None:
        return None
    return lambda scope: not predicate(scope)


def _read_combination(node: Node, name: str, depth: int) -> Predicate | None:
    rules = [_read_predicate(inner, {"Comment"}, depth - 1) for inner in node.nodes(name)]
    if isinstance(node.value[name], list) and not node.value[name]:
        node.error(BAD_RULE, name, f"`{name}` holds no rules", "give it at least one rule")
        return None
    predicates = tuple(rule for rule in rules if rule is not None)
    if len(predicates) != len(rules):
        return None
    if name == "And":
        return lambda scope: all(predicate(scope) for predicate in predicates)
    return lambda scope: any(predicate(scope) for predicate in predicates)


def _read_comparison(node: Node, name: str) -> Predicate | None:
    variable = read_path(node, "Variable")
    if "Variable" not in node:
        node.error("ASL_MISSING_FIELD", "", f"`{name}` needs `Variable`", "write `$.…`")
    if name in _PATH_OPERATORS:
        operand = read_path(node, name)
        if variable is None or operand is None:
            return None
        return _compare_paths(_PATH_OPERATORS[name], variable, operand)
    if not _check_operand(node, name):
        return None
    if variable is None:
        return None
    if name == "IsPresent":
        several = not parse_path(node.value["Variable"]).is_definite
        return _presence(variable, node.value[name], several)
    compare, constant = OPERATORS[name].compare, node.value[name]
    return lambda scope: compare(variable(scope), constant)


def _compare_paths(operator: Operator, variable: Expression, operand: Expression) -> Predicate:
    compare = operator.compare
    return lambda scope: compare(variable(scope), operand(scope))


def _presence(variable: Expression, expected: bool, several: bool) -> Predicate:
    def matches(scope: Scope) -> bool:
        try:
            found = variable(scope)
        except EvaluationError as error:
            if error.error != RUNTIME:
                raise
            return not expected
        present = found != [] if several else True
        return present is expected

    return matches


def _check_operand(node: Node, name: str) -> bool:
    expected = "boolean" if name == "IsPresent" else OPERATORS[name].operand_kind
    value = node.value[name]
    if operand_fits(expected, value):
        return True
    hint = "write for example `2016-03-14T01:59:00Z`" if expected == "timestamp" else ""
    message = f"`{name}` compares with a {expected}, found {excerpt(value)}"
    node.error("ASL_WRONG_TYPE", name, message, hint)
    return False
