"""JSON text read strictly, and where a JSON pointer stands in it."""

from __future__ import annotations

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.asl import locate, place, read_json, with_others
from dcf.problem import Problem

TEXT = """{
  "StartAt": "A",
  "States": {
    "A": {"Type": "Pass", "Next": "B"},
    "a/b~c": [10, {"x": [true]}]
  }
}
"""


@pytest.mark.parametrize(
    ("pointer", "place_in_text"),
    [
        ("", (1, 1)),
        ("/StartAt", (2, 3)),
        ("/States/A/Next", (4, 27)),
        ("/States/a~1b~0c", (5, 5)),
        ("/States/a~1b~0c/0", (5, 15)),
        ("/States/a~1b~0c/1/x/0", (5, 26)),
        ("/States/B", None),
    ],
)
def test_a_pointer_stands_at_its_key_or_element(
    pointer: str, place_in_text: tuple[int, int] | None
) -> None:
    assert locate(TEXT, pointer) == place_in_text


def test_nothing_stands_in_a_text_that_is_not_json() -> None:
    assert locate("{", "") is None


def test_problems_get_file_line_and_column() -> None:
    problem = Problem("X", "message", "/States/A/Next")

    assert place([problem], TEXT, "flow.json") == [problem.at(file="flow.json", line=4, column=27)]


def test_a_problem_about_something_missing_stands_at_the_nearest_thing() -> None:
    placed = place([Problem("X", "message", "/States/A/Resource/deep")], TEXT)

    assert (placed[0].line, placed[0].column) == (4, 5)


def test_json_without_problems_is_read_as_it_is() -> None:
    assert read_json(TEXT) == (json.loads(TEXT), [])


def test_malformed_json_is_a_problem_with_its_place() -> None:
    value, problems = read_json('{\n  "a": 1\n  "b": 2\n}', "x.json")

    assert value is None
    assert [(p.code, p.file, p.line, p.column) for p in problems] == [
        ("ASL_JSON_SYNTAX", "x.json", 3, 3)
    ]


def test_a_key_twice_in_one_object_is_an_error_at_the_second() -> None:
    _, problems = read_json('{"a": {"k": 1,\n "k": 2}, "k": 3}')

    assert [(p.code, p.path, p.line, p.column) for p in problems] == [
        ("ASL_JSON_DUPLICATE_KEY", "/a/k", 2, 2)
    ]


def test_keys_are_compared_after_their_escapes() -> None:
    _, problems = read_json(r'{"a": 1, "\u0061": 2}')

    assert [p.code for p in problems] == ["ASL_JSON_DUPLICATE_KEY"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_a_number_that_is_not_finite_is_an_error(number: str) -> None:
    _, problems = read_json(f'{{"a": [1, {number}]}}')

    assert [(p.code, p.path, p.column) for p in problems] == [("ASL_JSON_NOT_FINITE", "/a/1", 11)]


HALVES = [
    (r'{"a": ["\ud800"]}', "/a/0", 8, {"a": ["\ufffd"]}),
    (r'{"a": "x\uDC00\ud800"}', "/a", 7, {"a": "x\ufffd\ufffd"}),
    (r'{"a": "\ud83d\\ude00"}', "/a", 7, {"a": r"�\ude00"}),
    (r'{"\ud800b": 1}', "/\ufffdb", 2, {"\ufffdb": 1}),
    ('"\ud83d"', "", 1, "\ufffd"),
]


@pytest.mark.parametrize(("text", "path", "column", "value"), HALVES)
def test_half_of_a_surrogate_pair_is_an_error(
    text: str, path: str, column: int, value: object
) -> None:
    read, problems = read_json(text)

    assert [(p.code, p.path, p.column) for p in problems] == [
        ("ASL_JSON_NOT_UNICODE", path, column)
    ]
    assert read == value


@given(st.text(st.characters(exclude_categories=())) | st.text("\ud83d\ude00\\u"), st.booleans())
def test_texts_are_refused_that_utf8_cannot_write_and_no_others(text: str, escaped: bool) -> None:
    written = json.dumps({text: [text]}, ensure_ascii=escaped)
    value = json.loads(written)
    read, problems = read_json(written)
    try:
        json.dumps(value, ensure_ascii=False).encode()
        assert (read, problems) == (value, [])
    except UnicodeEncodeError:
        assert {p.code for p in problems} == {"ASL_JSON_NOT_UNICODE"}
        json.dumps(read, ensure_ascii=False).encode()


@pytest.mark.parametrize("depth", [101, 100_000])
def test_json_that_nests_too_deep_is_an_error(depth: int) -> None:
    _, problems = read_json("[" * depth + "]" * depth)

    assert [p.code for p in problems] == ["ASL_TOO_DEEP"]


@pytest.mark.parametrize(
    "text", ["StartAt: A\nStates:\n", "# Orders\n---\nStartAt: A", "- a\n- b\n"]
)
def test_yaml_is_called_by_its_name(text: str) -> None:
    value, [problem] = read_json(text)

    assert (value, problem.code) == (None, "ASL_JSON_SYNTAX")
    assert "JSON is expected" in problem.hint
    assert "YAML" in problem.hint


@pytest.mark.parametrize("text", ["{StartAt: A}", "nope", "-1x", "https://x", '{"a": 1,}', ""])
def test_other_texts_are_not_taken_for_yaml(text: str) -> None:
    assert "YAML" not in read_json(text)[1][0].hint


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(max_size=6),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
        max_leaves=12,
    ),
    st.sampled_from([None, 2]),
)
def test_every_place_of_a_json_text_can_be_located(value: object, indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)

    def pointers(item: object, at: str) -> list[str]:
        found = [at]
        pairs = (
            item.items()
            if isinstance(item, dict)
            else enumerate(item)
            if isinstance(item, list)
            else ()
        )
        for key, inner in pairs:
            found += pointers(inner, at + "/" + str(key).replace("~", "~0").replace("/", "~1"))
        return found

    assert read_json(text) == (value, [])
    assert all(locate(text, pointer) is not None for pointer in pointers(value, ""))


def test_a_long_text_costs_little_to_place() -> None:
    text = json.dumps({"a": "x\\n" * 200_000, "b": [0] * 50_000, "c": {"d": 1}})
    tracemalloc.start()
    try:
        [placed] = place([Problem("X", "message", "/c/d")], text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert placed.column == text.index('"d"') + 1
    assert peak < 10 * len(text)


def test_an_integer_with_too_many_digits_is_placed() -> None:
    _, problems = read_json('{"a":\n ' + "9" * 5000 + "}")

    assert [(p.code, p.path, p.line, p.column) for p in problems] == [
        ("ASL_JSON_NUMBER", "/a", 2, 2)
    ]
    assert "5000 digits" in problems[0].message


def test_of_a_number_only_the_beginning_is_repeated() -> None:
    _, [problem] = read_json("1" * 4000)

    assert problem.code == "ASL_JSON_NOT_FINITE"
    assert len(problem.message) < 100


def test_a_value_with_problems_is_there_for_further_checks() -> None:
    value, problems = read_json('{"a": Infinity, "b": 1, "b": 2}')

    assert value == {"a": 1, "b": 2}
    others = [Problem("ASL_TOO_DEEP", "deep"), Problem("X", "other", "/b")]
    assert with_others(problems, others) == [*problems, *others]
    too_deep = [Problem("ASL_TOO_DEEP", "deep", "/a")]
    assert with_others(too_deep, others) == [*too_deep, others[1]]
