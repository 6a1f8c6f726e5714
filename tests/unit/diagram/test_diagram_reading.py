"""From definitions to charts: every way out of a state, machines inside, and mistakes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.diagram import read_chart, to_mermaid
from dcf.diagram.chart import MISSING, Edge, all_nodes
from dcf.diagram.condition import condition_of
from dcf.diagram.note import note_of


def _edges(states: dict[str, Any]) -> tuple[Edge, ...]:
    return read_chart({"StartAt": next(iter(states)), "States": states}).machine.edges


def test_every_way_out_of_a_state_is_an_edge() -> None:
    edges = _edges(
        {
            "A": {
                "Type": "Task",
                "Next": "B",
                "Catch": [{"ErrorEquals": ["E1", "E2"], "Next": "C"}],
            },
            "B": {
                "Type": "Choice",
                "Choices": [{"Variable": "$.n", "NumericLessThan": 3, "Next": "A"}],
                "Default": "C",
            },
            "C": {"Type": "Pass", "End": True},
        }
    )
    assert edges == (
        Edge("A", "B", "next"),
        Edge("A", "C", "catch", "E1, E2"),
        Edge("B", "A", "choice", "$.n < 3"),
        Edge("B", "C", "default", "otherwise"),
        Edge("C", None, "next"),
    )


def test_rules_with_one_target_are_one_edge() -> None:
    rules = [{"Variable": "$.x", "NumericEquals": number, "Next": "B"} for number in (1, 2)]
    edges = _edges(
        {"A": {"Type": "Choice", "Choices": rules, "Default": "B"}, "B": {"Type": "Succeed"}}
    )
    assert edges == (Edge("A", "B", "choice", "$.x = 1 or $.x = 2 or otherwise"),)


def test_an_error_path_is_kept_apart_from_the_way_on() -> None:
    catch = [{"ErrorEquals": ["States.ALL"], "Next": "B"}]
    edges = _edges({"A": {"Type": "Task", "Next": "B", "Catch": catch}, "B": {"Type": "Succeed"}})
    assert [edge.kind for edge in edges] == ["next", "catch"]


def test_succeed_and_fail_are_ends_themselves() -> None:
    assert _edges({"A": {"Type": "Succeed"}, "B": {"Type": "Fail"}}) == ()


def test_machines_inside_of_states_are_found_at_any_depth() -> None:
    inner = {"StartAt": "C", "States": {"C": {"Type": "Pass", "End": True}}}
    map_ = {"Type": "Map", "ItemProcessor": inner, "End": True}
    old = {"Type": "Map", "Iterator": inner, "End": True}
    branches = [
        {"StartAt": "B", "States": {"B": map_}},
        {"StartAt": "O", "States": {"O": old}},
    ]
    chart = read_chart(
        {"StartAt": "A", "States": {"A": {"Type": "Parallel", "Branches": branches, "End": True}}}
    )
    assert chart.problems == ()
    assert {node.place for node in all_nodes(chart.machine)} == {
        ("A",),
        ("A", 0, "B"),
        ("A", 0, "B", 0, "C"),
        ("A", 1, "O"),
        ("A", 1, "O", 0, "C"),
    }


def test_a_workflow_document_is_drawn_by_its_machine() -> None:
    machine = {"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}
    chart = read_chart({"workflow_name": "orders", "asl": machine})
    assert chart.machine.title == "orders"
    assert [node.name for node in chart.machine.nodes] == ["A"]


def test_mistakes_are_drawn_and_told() -> None:
    chart = read_chart(
        {
            "States": {
                "A": {"Type": "Task", "Next": "Nowhere"},
                "B": 7,
                "M": {"Type": "Map"},
            }
        }
    )
    types = {node.name: node.type for node in chart.machine.nodes}
    assert types == {"A": "Task", "B": MISSING, "M": "Map", "Nowhere": MISSING}
    assert chart.problems == (
        "`B` is not an object",
        "there is no machine to draw in `M`",
        "`StartAt` is missing",
        "`Nowhere` is named but does not exist",
    )


def test_states_without_a_way_to_them_are_told() -> None:
    states = {"A": {"Type": "Succeed"}, "B": {"Type": "Pass", "Next": "A"}}
    assert read_chart({"StartAt": "A", "States": states}).problems == ("no way leads to `B`",)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "StartAt",
                    "States",
                    "Type",
                    "Next",
                    "Choices",
                    "Catch",
                    "Branches",
                    "ItemProcessor",
                ]
            )
            | st.sampled_from(
                ["Task", "Map", "Parallel", "Choice", "Default", "And", "Not", "End"]
            ),
            inner | st.sampled_from(["Task", "Map", "Parallel", "Choice"]),
            max_size=5,
        )
    ),
    max_leaves=30,
)


@given(_JSON)
def test_no_json_is_too_strange(definition: Any) -> None:
    assert to_mermaid(read_chart(definition)).startswith("flowchart")


@pytest.mark.parametrize(
    ("rule", "label"),
    [
        ({"Variable": "$.a", "StringEquals": "x"}, '$.a = "x"'),
        ({"Variable": "$.a", "NumericGreaterThanEqualsPath": "$.b"}, "$.a >= $.b"),
        ({"Variable": "$.a", "TimestampLessThanEquals": "2026-01-01T00:00:00Z"},
         '$.a <= "2026-01-01T00:00:00Z"'),
        ({"Variable": "$.a", "StringMatches": "*.log"}, '$.a matches "*.log"'),
        ({"Variable": "$.a", "IsPresent": False}, "$.a is not present"),
        ({"Variable": "$.a", "IsNumeric": True}, "$.a is a numeric"),
        ({"Not": {"Variable": "$.a", "BooleanEquals": True}}, "not $.a = true"),
        (
            {"And": [{"Variable": "$.a", "IsNull": True},
                     {"Or": [{"Variable": "$.b", "NumericEquals": 1},
                             {"Variable": "$.b", "NumericEquals": 2}]}]},
            "$.a is null and ($.b = 1 or $.b = 2)",
        ),
        ({"Condition": "{% $total\n  > 100 %}"}, "$total > 100"),
        ({}, ""),
    ],
)  # fmt: skip
def test_conditions_are_said_in_a_few_words(rule: dict[str, Any], label: str) -> None:
    assert condition_of(rule) == label


_TASK = {"Type": "Task"}
_STATES = "arn:aws:states:::"


@pytest.mark.parametrize(
    ("state", "note"),
    [
        ({**_TASK, "Resource": f"{_STATES}dynamodb:putItem"}, "Task · dynamodb:putItem"),
        ({**_TASK, "Resource": f"{_STATES}aws-sdk:s3:getObject"}, "Task · s3:getObject"),
        ({**_TASK, "Resource": "arn:aws:lambda:eu-west-1:1:function:f:2"}, "Task · lambda f"),
        ({**_TASK, "AgentBinding": {"tool_name": "pay"}}, "Task · pay"),
        ({**_TASK, "Retry": [{"ErrorEquals": ["E"]}]}, "Task · retry\u00a0×3"),
        ({"Type": "Wait", "Seconds": 5}, "Wait · 5 s"),
        ({"Type": "Wait", "Timestamp": "{% $when %}"}, "Wait · until $when"),
        ({"Type": "Fail", "Error": "Gone"}, "Fail · Gone"),
        ({"Type": "Map", "MaxConcurrency": 4,
          "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED"}}},
         "Map · distributed, 4 at a time"),
        ({"Type": "Task", "AgentBinding": {"task_type": "approval", "approval": {
            "required": True, "only": True, "approvers": ["buyer", "head"], "any_of": True}}},
         "approval by buyer or head"),
        ({**_TASK, "AgentBinding": {"task_type": "manual", "manual": {"by": ["dba", "sre"]}}},
         "manual by dba or sre"),
        ({**_TASK, "AgentBinding": {"manual": {}}}, "manual"),
        ({"Type": "Task", "AgentBinding": {"tool_name": "pay", "approval": {
            "required": True, "approvers": ["buyer", "head"]}}},
         "Task · pay · approval by buyer, then head"),
        ({"Type": "Task", "AgentBinding": {"tool_name": "pay", "approval": {"required": False}}},
         "Task · pay"),
        ({**_TASK, "AgentBinding": {"tool_name": "pay", "memory": {"scope": "none"}}},
         "Task · pay · no memory"),
        ({**_TASK, "AgentBinding": {"memory": {"gather": True}}},
         "Task · agent · branch memory, gathered"),
        ({"Type": "Parallel", "memory": {"scope": "shared"}}, "Parallel · shared memory"),
        ({}, "no type"),
    ],
)  # fmt: skip
def test_a_note_says_what_a_state_does(state: dict[str, Any], note: str) -> None:
    assert note_of(state) == note


def test_branches_are_numbered_as_in_the_paths_of_their_states() -> None:
    branch = {"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}
    both = {"Type": "Parallel", "Branches": [branch, branch], "End": True}
    chart = read_chart({"StartAt": "P", "States": {"P": both}})
    titles = [machine.title for machine in chart.machine.nodes[0].machines]
    assert titles == ["branch [0]", "branch [1]"]


def test_branches_have_the_names_that_they_were_given() -> None:
    state = {"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}
    named = [{"Comment": "account", **state}, {"Comment": "long " * 20, **state}]
    both = {"Type": "Parallel", "Branches": named, "End": True}
    chart = read_chart({"StartAt": "P", "States": {"P": both}})
    titles = [machine.title for machine in chart.machine.nodes[0].machines]
    assert titles == ["account", "branch [1]"]


def test_rules_that_share_a_line_keep_their_and_together() -> None:
    small = {"Variable": "$.a", "NumericLessThan": 5}
    named = {"Variable": "$.b", "StringEquals": "salt and pepper"}
    rules = [
        {"And": [small, named], "Next": "B"},
        {**named, "Next": "B"},
        {"Variable": "$.c", "IsPresent": True, "Next": "B"},
    ]
    choice = {"Type": "Choice", "Choices": rules, "Default": "B"}
    edges = _edges({"A": choice, "B": {"Type": "Succeed"}})
    assert [edge.label for edge in edges] == [
        '($.a < 5 and $.b = "salt and pepper") or $.b = "salt and pepper" or $.c is present '
        "or otherwise"
    ]
    alone = {"Type": "Choice", "Choices": rules[:1]}
    assert _edges({"A": alone, "B": {"Type": "Succeed"}})[0].label.startswith("$.a < 5 and")
