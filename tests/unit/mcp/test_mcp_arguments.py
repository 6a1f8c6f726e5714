"""Arguments: checked against the signature, all problems at once, strangers ignored aloud."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from dcf.mcp.arguments import Alias, Parameter, Parameters
from dcf.mcp.envelope import BadArguments
from dcf.mcp.json_text import read_json, storable
from dcf.mcp.platform import Platform
from dcf.mcp.tool import tool
from dcf.problem import Problem

ALL = Parameters(
    [
        Parameter("name", str, "Name."),
        Parameter("count", Annotated[int, Field(ge=1, le=9)], "Count.", 1, required=False),
        Parameter("mode", Literal["a", "b"] | None, "Mode.", None, required=False),
        Parameter("tags_json", list[str] | None, "Tags.", None, required=False),
        Parameter("raw_json", str | None, "Text.", None, required=False),
    ]
)


def read(**given_: Any) -> tuple[dict[str, Any], list[str]]:
    warnings: list[str] = []
    return ALL.read(given_, warnings), warnings


def test_what_is_left_out_or_null_has_its_default() -> None:
    values, warnings = read(name="x", count=None, tags_json=None)
    assert values == {"name": "x", "count": 1, "mode": None, "tags_json": None, "raw_json": None}
    assert warnings == []


def test_json_text_becomes_its_value_and_raw_text_stays() -> None:
    values, _ = read(name="x", tags_json='["a"]', raw_json='["a"]')
    assert values["tags_json"] == ["a"] and values["raw_json"] == '["a"]'


def test_a_value_sent_in_place_of_json_text_is_taken() -> None:
    values, _ = read(name="x", tags_json=["a"], raw_json={"a": 1})
    assert values["tags_json"] == ["a"] and values["raw_json"] == '{"a": 1}'


def test_a_fence_around_json_text_is_dropped() -> None:
    assert read_json("x_json", '```json\n{"a": 1}\n```') == ({"a": 1}, None)


def test_every_problem_is_named_at_once() -> None:
    with pytest.raises(BadArguments) as caught:
        read(count=12, mode="c", tags_json="[1", raw_json="\ud800")
    places = {problem.path for problem in caught.value.problems}
    assert places == {"/name", "/count", "/mode", "/tags_json", "/raw_json"}


def test_the_value_of_json_text_is_checked_too() -> None:
    with pytest.raises(BadArguments) as caught:
        read(name="x", tags_json='["a", {}]')
    [problem] = caught.value.problems
    assert problem.path == "/tags_json/1"


def test_unknown_parameters_are_ignored_aloud() -> None:
    _, warnings = read(name="x", redis_url="redis://:secret@h", cuont=3, **{"": 1})
    assert len(warnings) == 3
    assert "one Redis" in warnings[0] and "secret" not in warnings[0]
    assert "did you mean 'count'" in warnings[1]


@tool(strict=True)
async def remove(
    platform: Platform,
    state: Annotated[str, "State.", Alias("path"), Alias("place")],
    count: Annotated[int | None, "Count."] = None,
) -> Any:
    """Remove something."""


def test_what_cannot_be_taken_back_is_not_done_on_arguments_that_nobody_reads() -> None:
    strangers = {"staet": "B", "a/b~c": 1, "": 2, "\ud800": 3}
    with pytest.raises(BadArguments) as caught:
        remove.parameters.read({"count": "x", **strangers}, [])
    told = {problem.path: problem.message for problem in caught.value.problems}
    assert told.keys() == {"/state", "/count", "/staet", "/a~1b~0c", "/", "/\\ud800"}
    assert "did you mean 'state'" in told["/staet"]
    assert {one.hint for one in caught.value.problems if "none of that name" in one.message} == {
        "nothing was done; this tool takes state, count"
    }
    warnings: list[str] = []
    values = remove.parameters.read({"state": "A", "redis_url": "x", "other": None}, warnings)
    assert values == {"state": "A", "count": None}
    assert len(warnings) == 1 and "redis_url" in warnings[0]


def test_a_parameter_is_taken_under_its_other_names_and_shown_under_one() -> None:
    assert remove.input_schema["properties"].keys() == {"state", "count"}
    assert remove.input_schema["additionalProperties"] is False
    for given_ in ({"path": "A"}, {"state": "A", "path": "A", "place": None}):
        assert remove.parameters.read(given_, []) == {"state": "A", "count": None}
    for given_ in ({"state": "A", "path": "B"}, {"path": "A", "place": "B"}):
        with pytest.raises(BadArguments) as caught:
            remove.parameters.read(given_, [])
        assert [problem.path for problem in caught.value.problems] == ["/state"]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("{", "no JSON"),
        ('{"a": NaN}', "NaN"),
        ("[" * 5000, "nested"),
        ("", "no JSON"),
        ("9" * 5000, "no JSON"),
    ],
)
def test_text_that_is_no_json_is_explained(text: str, word: str) -> None:
    value, problem = read_json("x_json", text)
    assert value is None and problem is not None and word in problem.message


@given(st.recursive(st.none() | st.floats() | st.text() | st.integers(), st.lists, max_leaves=9))
def test_what_counts_as_storable_can_be_written_as_utf8_json(value: Any) -> None:
    import json
    import math

    def finite(part: Any) -> bool:
        if isinstance(part, list):
            return all(map(finite, part))
        return not isinstance(part, float) or math.isfinite(part)

    if storable(value) is None:
        assert finite(value)
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    else:
        assert not finite(value) or "\\ud" in json.dumps(value)


def test_nesting_has_a_limit() -> None:
    value: Any = 1
    for _ in range(100):
        value = [value]
    assert storable(value[0]) is None
    assert storable([value]) is not None


@pytest.mark.parametrize("nothing", [None, ""])
@pytest.mark.parametrize("used", ["skill", "skill_id"])
def test_a_client_may_send_every_name_and_use_one(nothing: str | None, used: str) -> None:
    aliased = Parameters([Parameter("skill", str, "Skill.", aliases=("skill_id",))])
    sent = {"skill": nothing, "skill_id": nothing, used: "a@1"}
    warnings: list[str] = []
    assert aliased.read(sent, warnings) == {"skill": "a@1"}
    with pytest.raises(BadArguments):
        aliased.read({"skill": None, "skill_id": None}, warnings)


def test_a_number_that_equals_nothing_is_one_problem() -> None:
    with pytest.raises(BadArguments) as refused:
        read(name="x", count=float("nan"))
    assert [problem.path for problem in refused.value.problems] == ["/count"]


async def test_what_is_wrong_is_said_at_the_name_that_the_client_gave() -> None:
    @tool("planner")
    async def tried(
        platform: Platform,
        labels_json: Annotated[list[str] | None, "Labels.", Alias("labels"), Alias("tags")] = None,
        name: Annotated[str, "Name.", Alias("title")] = "",
    ) -> Any:
        """Try."""
        place = "/labels_json/0/a" if labels_json else "/name"
        raise BadArguments([Problem("X", "is wrong", place)])

    nobody: Any = None
    for given_, place in (
        ({"labels": "[1"}, "/labels"),
        ({"labels_json": "[1"}, "/labels_json"),
        ({"tags": ["x"]}, "/tags/0/a"),
        ({"title": "x"}, "/title"),
        ({}, "/name"),
    ):
        with pytest.raises(BadArguments) as caught:
            await tried.call(nobody, given_, [])
        assert [one.path for one in caught.value.problems] == [place]
