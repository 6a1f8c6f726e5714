"""The YAML form: its schema, its lines, its mistakes."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from jsonschema import Draft202012Validator
from written import REFUND, REFUND_YAML, changed, line_of

from dcf.sop import GoTo, form_of, new_sop, parse, parse_yaml, print_markdown, to_data
from dcf.sop.yaml_form.document import schema_text


def test_a_procedure_in_yaml_is_read() -> None:
    reading = parse(REFUND_YAML, "refund.yaml")
    assert reading.problems == ()
    assert reading.sop is not None
    assert [(one.number, one.kind) for one in reading.sop.steps] == [
        ("1", "task"),
        ("2", "decision"),
        ("3", "task"),
        ("4", "end"),
    ]
    assert reading.sop.steps[0].handlers[0].then == GoTo("4")
    assert reading.sop.steps[1].line == line_of(REFUND_YAML, "Is it much")


MISTAKES = [
    ("title: Refund a customer\n", "", "SOP_MISSING", "objective"),
    ("steps:\n", "stepz:\n", "SOP_UNKNOWN", "stepz"),
    ("then: finish", "then: flee", "SOP_DIRECTION", "flee"),
    (
        "then: go to step 4\n  - title: Is it",
        "then: go to step 9\n  - title: Is it",
        "SOP_JUMP",
        "step 9",
    ),
    ("total is over 100", "total is very big", "SOP_CONDITION", "very big"),
    ("number: 4", "number: 1", "SOP_NUMBER", "number: 1"),
    ("number: 4", "number: 4.1", "SOP_TYPE", "number: 4.1"),
    ("kind: end", "kind: and", "SOP_VALUE", "kind: and"),
    ("reads: [order_id]", "reads: [orderid]", "SOP_UNKNOWN_NAME", "orderid"),
    ("reads: [order_id]", "reads: [order id]", "SOP_NAME", "order id"),
    ('"up to 3 times, waiting 30 seconds"', "now and then", "SOP_RETRY", "now and then"),
    (
        "    writes: [refund_id]\n",
        "    wait: a while\n    writes: [refund_id]\n",
        "SOP_WAIT",
        "a while",
    ),
    (
        "    writes: [refund_id]\n",
        "    deadline: soon\n    writes: [refund_id]\n",
        "SOP_DURATION",
        "soon",
    ),
    (
        "    writes: [refund_id]\n",
        "    steps: [{title: A}]\n    writes: [refund_id]\n",
        "SOP_NESTED",
        "{title: A}",
    ),
    ("objective: The", "objective: [The", "SOP_YAML_SYNTAX", "inputs:"),
    ("objective: The", "title: B\nobjective: The", "SOP_YAML_DUPLICATE_KEY", "title: B"),
    ("objective: The", "\tobjective: The", "SOP_YAML_SYNTAX", "\tobjective"),
]


@pytest.mark.parametrize(("old", "new", "code", "at"), MISTAKES)
def test_one_mistake_is_one_problem(old: str, new: str, code: str, at: str) -> None:
    text = changed(REFUND_YAML, (old, new))
    if code == "SOP_NUMBER":
        text = text.replace("go to step 4", "go to step 1")
    reading = parse(text, "refund.yaml")
    errors = [one for one in reading.problems if one.is_error]
    if code == "SOP_NUMBER":
        errors = errors[:1]
    if code == "SOP_UNKNOWN":  # and the right one is missing
        errors = [one for one in errors if one.code != "SOP_MISSING"]
    line = 1 if code == "SOP_MISSING" else _line(text, code, at)
    assert [(one.code, one.line) for one in errors] == [(code, line)], list(map(str, errors))
    assert reading.sop is None


def _line(text: str, code: str, at: str) -> int:
    if code == "SOP_NUMBER":
        return line_of(text, "number: 1")
    return line_of(text, at)


def test_an_alias_bomb_is_refused() -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n"
    names = "abcdefghij"
    for before, name in pairwise(names):
        bomb += f"{name}: &{name} [" + ", ".join([f"*{before}"] * 9) + "]\n"
    assert [one.code for one in parse_yaml(bomb).problems] == ["SOP_YAML_LIMIT"]
    deep = "title: " + "[" * 5_000 + "]" * 5_000
    assert [one.code for one in parse_yaml(deep).problems] == ["SOP_YAML_LIMIT"]


@pytest.mark.parametrize("text", ["", "just text", "- a\n- b", "title: 3", "a: 1\n---\nb: 2"])
def test_other_yaml_is_no_procedure(text: str) -> None:
    reading = parse_yaml(text, "a.yaml")
    assert reading.sop is None
    assert reading.problems
    assert all(one.line for one in reading.problems)


def test_the_schema_is_a_json_schema() -> None:
    schema = json.loads(schema_text())
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_the_form_goes_by_the_name_or_the_text() -> None:
    assert form_of("a.yml") == form_of("a.json") == form_of("", REFUND_YAML) == "yaml"
    assert form_of("a.md", REFUND_YAML) == form_of("", REFUND) == "markdown"
    assert parse(json.dumps(to_data(new_sop("T"))), "a.json").sop == new_sop("T")


def test_the_skeleton_has_no_problems() -> None:
    reading = parse(print_markdown(new_sop("Refund a customer")), "new.md")
    assert (reading.problems, reading.sop) == ((), new_sop("Refund a customer"))
