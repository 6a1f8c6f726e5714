"""Which variables states read, and warnings about those that cannot be there."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import machine_of
from hypothesis import given
from hypothesis import strategies as st

from dcf.asl import validate, variable_references


def one(**fields: Any) -> dict[str, Any]:
    return machine_of(A={"Type": "Pass", "End": True, **fields})


def read(**fields: Any) -> list[str]:
    return variable_references(one(**fields)).get("A", [])


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"Parameters": {"a.$": "$order.id", "b": "$text"}}, ["order"]),
        ({"Parameters": {"a": [{"b.$": "States.Format('{} {}', $x, States.UUID())"}]}}, ["x"]),
        ({"InputPath": "$order.items", "OutputPath": "$.a"}, ["order"]),
        ({"Parameters": {"a.$": "$.b", "c.$": "$$.Execution.Id", "d.$": "$"}}, []),
        ({"Comment": "$x", "Result": {"a.$": "$x"}}, []),
    ],
)
def test_jsonpath_reads(fields: dict[str, Any], names: list[str]) -> None:
    assert read(**fields) == names


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("$order.id", ["order"]),
        ("$states.input.a", []),
        ("$a + $b + $a", ["a", "b"]),
        ("($local := 1; $local + $outer)", ["outer"]),
        ("$map($items, function($v, $i) { $v + $i + $more })", ["items", "more"]),
        ("$sum($numbers) ~> $string", ["numbers"]),
        ("$map($names, $uppercase)", ["names"]),
        ("$orders[price > $limit].id", ["orders", "limit"]),
        ("$uuid() & $random()", []),
        ("'$x' & \"$y\"", []),
    ],
)
def test_jsonata_reads(expression: str, names: list[str]) -> None:
    fields = {"QueryLanguage": "JSONata", "Output": {"v": [f"{{% {expression} %}}", "$no"]}}
    assert read(**fields) == names


def test_states_at_any_depth_are_listed_and_those_that_read_nothing_are_not() -> None:
    inner = machine_of(B={"Type": "Pass", "Parameters": {"a.$": "$x"}, "End": True})
    definition = machine_of(
        A={"Type": "Parallel", "Branches": [inner], "Next": "C"}, C={"Type": "Succeed"}
    )

    assert variable_references(definition) == {"B": ["x"]}


def warned(definition: dict[str, Any]) -> list[tuple[str, str]]:
    return [(p.code, p.path) for p in validate(definition) if p.code.startswith("ASL_VARIABLE")]


def test_a_variable_that_nothing_assigns_is_a_warning() -> None:
    definition = one(Parameters={"id.$": "$order.id"})

    path = "/States/A/Parameters/id.$"
    assert warned(definition) == [("ASL_VARIABLE_NEVER_ASSIGNED", path)]


def test_variables_of_the_machine_around_are_seen_but_not_in_a_distributed_map() -> None:
    inner = machine_of(B={"Type": "Pass", "Parameters": {"a.$": "$x"}, "End": True})
    config = {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}}
    around = {"Type": "Pass", "Assign": {"x": 1}, "Next": "M"}

    def with_map(processor: dict[str, Any]) -> dict[str, Any]:
        map_state = {"Type": "Map", "ItemProcessor": processor, "End": True}
        return machine_of(A=around, M=map_state)

    assert warned(with_map(inner)) == []
    assert [code for code, _ in warned(with_map({**config, **inner}))] == [
        "ASL_VARIABLE_NEVER_ASSIGNED"
    ]


def test_a_name_of_the_machine_around_is_hidden_with_a_warning() -> None:
    inner = machine_of(B={"Type": "Pass", "Assign": {"x": 2}, "End": True})
    definition = machine_of(
        A={"Type": "Parallel", "Assign": {"x": 1}, "Branches": [inner], "End": True}
    )

    path = "/States/A/Branches/0/States/B/Assign/x"
    assert warned(definition) == [("ASL_VARIABLE_HIDDEN", path)]


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_any_value_is_looked_through(value: Any) -> None:
    for found in (
        variable_references(value),
        variable_references({"StartAt": "A", "States": {"A": value}}),
    ):
        assert all(isinstance(state, str) for state in found)
        assert all(isinstance(name, str) for names in found.values() for name in names)
