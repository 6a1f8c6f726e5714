"""Choice rules compiled into predicates: comparisons, And, Or and Not, or a JSONata condition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from dcf.asl.comparison import OPERATORS, Operator, operand_fits
from dcf.asl.dataflow import read_path, read_template
from dcf.asl.errors import RUNTIME, EvaluationError
from dcf.asl.jsonata.flow import read_assign, read_jsonata
from dcf.asl.jsonpath.syntax import parse_path
from dcf.asl.payload import MAX_DEPTH, excerpt
from dcf.asl.reading.fields import check_fields, closest_hint, refuse_language
from dcf.asl.reading.node import Node
from dcf.asl.reading.typed_field import read_expected, refuse_timestamp
from dcf.asl.scope import Expression, Scope

BAD_RULE = "ASL_BAD_CHOICE_RULE"

Predicate: TypeAlias = Callable[[Scope], bool]

_OPERANDS = {
    "string": '"ready"',
    "number": "3",
    "boolean": "true",
    "timestamp": "2016-03-14T01:59:00Z",
}
_COMBINATIONS = ("And", "Or", "Not")
_PATH_OPERATORS = {f"{name}Path": operator for name, operator in OPERATORS.items() if operator.path}
_ALL_OPERATORS = {*OPERATORS, *_PATH_OPERATORS, "IsPresent", *_COMBINATIONS}


@dataclass(frozen=True, slots=True)
class ChoiceRule:
    """When ``matches`` holds, go to ``next``; ``output`` and ``variables`` are its own fields."""

    matches: Predicate
    next: str
    output: Expression | None = None
    variables: Expression | None = None


def read_rule(node: Node, jsonata: bool) -> ChoiceRule | None:
    """A top-level rule with its ``Next``; None when it has errors."""
    target = node.text("Next", filled=True)
    if "Next" not in node:
        node.missing("Next", "a choice rule needs `Next`", "name the next state")
    predicate = (
        _read_condition(node) if jsonata else _read_predicate(node, _PATH_RULE_FIELDS, MAX_DEPTH)
    )
    output = read_jsonata(node, "Output") if jsonata else None
    variables = read_assign(node) if jsonata else read_template(node, "Assign")
    if predicate is None or target is None:
        return None
    return ChoiceRule(predicate, target, output, variables)


_PATH_RULE_FIELDS = {"Next", "Comment", "Assign"}
_JSONATA_RULE_FIELDS = frozenset({"Next", "Comment", "Assign", "Condition", "Output"})


def _read_condition(node: Node) -> Predicate | None:
    node.text("Comment")
    foreign = [field for field in node.value if field == "Variable" or field in _ALL_OPERATORS]
    for field in foreign:
        refuse_language(node, field, jsonata=True)
    check_fields(node, _JSONATA_RULE_FIELDS.union(foreign), "a choice rule in JSONata")
    if "Condition" not in node:
        if not foreign:
            hint = "write `{% … %}` with an expression that gives true or false"
            node.missing("Condition", "a choice rule needs `Condition`", hint)
        return None
    value = node.value["Condition"]
    if isinstance(value, bool):
        return lambda _: value
    if not isinstance(value, str):
        node.wrong_type("Condition", "a string with JSONata")
        return None
    return read_expected(node, "Condition", "boolean")


def _read_predicate(node: Node, besides: set[str], depth: int) -> Predicate | None:
    if depth == 0:
        node.error(
            "ASL_TOO_DEEP",
            "",
            f"choice rules nest deeper than {MAX_DEPTH}",
            hint="nest less: at most 100 levels",
        )
        return None
    node.text("Comment")
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


def _refuse_others(node: Node, operators: list[str], besides: set[str]) -> None:
    combination = any(name in _COMBINATIONS for name in operators)
    allowed = {*operators, *besides} if combination else {*operators, *besides, "Variable"}
    for field in node.value:
        if field in allowed:
            continue
        if field in ("Condition", "Output"):
            refuse_language(node, field, jsonata=False)
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
        node.missing("Variable", f"`{name}` needs `Variable`", "write `$.…`")
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
        several = not parse_path(node.value["Variable"]).names_one
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
    if expected == "timestamp" and isinstance(value, str):
        refuse_timestamp(node, name)
        return False
    message = f"`{name}` compares with a {expected}, found {excerpt(value)}"
    node.error("ASL_WRONG_TYPE", name, message, f"write for example `{_OPERANDS[expected]}`")
    return False
