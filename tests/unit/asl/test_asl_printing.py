"""``dump``: canonical JSON text of a definition."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asl_builders import machine_of

from dcf.asl import DefinitionError, dump, parse
from dcf.asl.printing import FIELD_ORDER
from dcf.asl.reading.fields import (
    JSONATA_FIELDS,
    JSONPATH_FIELDS,
    PROCESSOR_FIELDS,
    ROOT_FIELDS,
    STATE_FIELDS,
)

INNER = machine_of(T={"End": True, "Type": "Pass"})


def printed_state(state: dict[str, Any]) -> dict[str, Any]:
    printed: dict[str, Any] = json.loads(dump(machine_of(S={**state, "End": True})))["States"]["S"]
    return printed


def test_fields_have_one_order() -> None:
    shuffled = {"States": {"S": {"End": True, "Result": 1, "Type": "Pass"}}, "StartAt": "S"}
    sorted_one = {"StartAt": "S", "States": {"S": {"Type": "Pass", "Result": 1, "End": True}}}

    assert dump(shuffled) == dump(parse(sorted_one)) == json.dumps(sorted_one, indent=2)


def test_every_field_has_its_place() -> None:
    tables = (STATE_FIELDS, JSONPATH_FIELDS, JSONATA_FIELDS)
    known = {field for table in tables for fields in table.values() for field in fields}

    assert known | ROOT_FIELDS | PROCESSOR_FIELDS == {*FIELD_ORDER, "Iterator"} & (
        known | ROOT_FIELDS | PROCESSOR_FIELDS
    )
    assert len(FIELD_ORDER) == len(set(FIELD_ORDER))


def test_old_names_of_a_map_give_way() -> None:
    printed = printed_state({"Type": "Map", "Iterator": INNER, "Parameters": {"b": 1, "a.$": "$"}})

    assert list(printed) == ["Type", "ItemSelector", "ItemProcessor", "End"]
    assert list(printed["ItemSelector"]) == ["b", "a.$"]
    assert list(printed["ItemProcessor"]["States"]["T"]) == ["Type", "End"]


def test_data_keeps_its_order_and_names() -> None:
    data = {"Type": 1, "Next": {"States": [{"Iterator": 1, "Comment": 2}]}, "Comment": 3}
    printed = printed_state({"Type": "Pass", "Result": data})

    assert json.dumps(printed["Result"]) == json.dumps(data)


def test_an_inner_machine_prints_as_one_that_stands_alone() -> None:
    definition = machine_of(S={"Type": "Map", "ItemProcessor": INNER, "End": True})
    inner = parse({**definition, "QueryLanguage": "JSONata"}).states["S"].processor

    assert inner is not None
    assert json.loads(dump(inner)) == {**INNER, "QueryLanguage": "JSONata"}


def test_text_can_be_written_to_a_file() -> None:
    text = dump(machine_of(S={"Type": "Pass", "Result": "é\ud800", "End": True}))

    assert "é" in text
    assert json.loads(text.encode("utf-8"))["States"]["S"]["Result"] == "é\ud800"


def test_a_definition_with_errors_is_not_printed() -> None:
    with pytest.raises(DefinitionError):
        dump({"StartAt": "S"})
