"""Intrinsic functions, with the examples of the Amazon States Language specification."""

from __future__ import annotations

import uuid
from random import Random

import pytest
from asl_builders import alone, codes, evaluated, parsed, visit_of
from hypothesis import given
from hypothesis import strategies as st

from dcf.asl import Entered, step


@pytest.mark.parametrize(
    ("call", "data", "value"),
    [
        (
            "States.Format('Your name is {}, we are in the year {}', $.name, 2020)",
            {"name": "Foo"},
            "Your name is Foo, we are in the year 2020",
        ),
        (r"States.Format('\{\} and \'{}\' and \\', $)", 1.5, r"{} and '1.5' and " + "\\"),
        ("States.Format('{} {}', null, true)", None, "null true"),
        ("States.Format('s3://${Bucket}/{}', 'a')", None, "s3://${Bucket}/a"),
        ("States.Format($.t, 1)", {"t": "n={}"}, "n=1"),
        ("States.Format('{}', $)", {"a": {"b": [1, "x"]}}, "{a={b=[1, x]}}"),
        ("States.StringToJson($.s)", {"s": '{"number": 20}'}, {"number": 20}),
        ("States.StringToJson($)", " ", None),
        ("States.JsonToString($)", {"a": [1, "ü"]}, '{"a":[1,"ü"]}'),
        (
            "States.Array('Foo', 2020, $.j, null)",
            {"j": {"a": "b"}},
            ["Foo", 2020, {"a": "b"}, None],
        ),
        ("States.Array()", None, []),
        (
            "States.ArrayPartition($, 4)",
            [1, 2, 3, 4, 5, 6, 7, 8, 9],
            [[1, 2, 3, 4], [5, 6, 7, 8], [9]],
        ),
        ("States.ArrayContains($, 5)", [1, 2, 3, 4, 5], True),
        ("States.ArrayContains($, true)", [1], False),
        ("States.ArrayRange(1, 9, 2)", None, [1, 3, 5, 7, 9]),
        ("States.ArrayRange(5, 1, -2)", None, [5, 3, 1]),
        ("States.ArrayRange(5, 1, 2)", None, []),
        ("States.ArrayGetItem($, 5)", [1, 2, 3, 4, 5, 6], 6),
        ("States.ArrayLength($)", [1, 2, 3], 3),
        (
            "States.ArrayUnique($)",
            [1, 2, 3, 3, 3, True, {"a": 1}, {"a": 1}],
            [1, 2, 3, True, {"a": 1}],
        ),
        ("States.Base64Encode($)", "Data to encode", "RGF0YSB0byBlbmNvZGU="),
        ("States.Base64Decode($)", "RGVjb2RlZCBkYXRh", "Decoded data"),
        # As Java decodes: without padding, and bytes that are no text replaced.
        ("States.Base64Decode($)", "aGVsbG8", "hello"),
        ("States.Base64Decode($)", "gGE=", "\ufffda"),
        ("States.Base64Decode(States.Base64Encode($))", "😀" * 500, "😀" * 500),
        ("States.ArrayLength(States.StringSplit($, ','))", "a," * 3_000, 3_000),
        # A fraction is rounded, a half upwards.
        ("States.MathAdd($, 0.5)", -1.5, 0),
        ("States.ArrayGetItem($, 0.5)", [1, 2], 2),
        ("States.ArrayPartition($, 1.5)", [1, 2, 3], [[1, 2], [3]]),
        # RFC 3174 and FIPS 180 test vectors for "abc"
        ("States.Hash($, 'SHA-1')", "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (
            "States.Hash('abc', 'SHA-256')",
            None,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        ),
        ("States.Hash('', 'MD5')", None, "d41d8cd98f00b204e9800998ecf8427e"),
        # As the data flow simulator of AWS gives it: an object is {foo=bar}, an array JSON.
        ("States.Hash($, 'SHA-1')", {"foo": "bar"}, "dc2935b70ad43836e2e74df2d9758b1e51397997"),
        ("States.Hash($, 'SHA-1')", [1, 2, 3], "9ef50cc82ae474279fb8e82896142702bccbb33a"),
        (
            "States.JsonMerge($.one, $.two, false)",
            {"one": {"a": {"a1": 1}, "b": 2}, "two": {"a": {"a3": 1}, "c": 3}},
            {"a": {"a3": 1}, "b": 2, "c": 3},
        ),
        ("States.MathAdd(111, -1)", None, 110),
        ("States.MathAdd($, 1)", 2_147_483_647, 2_147_483_648),
        ("States.StringSplit('1,2,3,4,5', ',')", None, ["1", "2", "3", "4", "5"]),
        ("States.StringSplit($, '.+,')", "a.b+,c", ["a", "b", "c"]),
        ("States.ArrayGetItem(States.StringSplit('a/b', '/'), 1)", None, "b"),
        ("States.ArrayLength($.a[?(@.n > 1)])", {"a": [{"n": 1}, {"n": 2}]}, 1),
    ],
)
def test_a_call_gives_its_value(call: str, data: object, value: object) -> None:
    assert evaluated(call, data) == value


@pytest.mark.parametrize(
    ("call", "data"),
    [
        ("States.StringToJson($)", "{"),
        ("States.StringToJson($)", "NaN"),
        ("States.StringToJson($)", "1e999"),
        ("States.StringToJson($)", 3),
        ("States.ArrayRange(1, 1001, 1)", None),
        ("States.ArrayRange(0, $, 1)", 10**40),
        ("States.ArrayRange(1, 2, 0)", None),
        ("States.ArrayGetItem($, 3)", [1, 2, 3]),
        ("States.ArrayGetItem($, -1)", [1, 2, 3]),
        ("States.ArrayLength($)", "text"),
        ("States.ArrayPartition($, 0)", [1]),
        ("States.Base64Encode($)", "x" * 10_001),
        ("States.Base64Decode($)", "?"),
        ("States.Base64Decode($)", "aGVsb"),
        ("States.Base64Decode($)", "aGVsbG8=="),
        ("States.Hash($, 'MD5')", "x" * 10_001),
        ("States.Hash($, 'sha-256')", "abc"),
        ("States.MathRandom(5, 1)", None),
        ("States.JsonMerge($, $, false)", [1]),
        ("States.Hash($, 'CRC')", "abc"),
        ("States.JsonMerge($, $, true)", {}),
        ("States.MathAdd($, 1)", "1"),
        # intrinsic-functions.html: integer values in the range of -2147483648 and 2147483647
        ("States.MathAdd($, 1)", 2_147_483_648),
        ("States.MathAdd(0, $)", -2_147_483_649),
        ("States.MathRandom(5, 5)", None),
        ("States.Format($, 1, 2)", "{}"),
    ],
)
def test_a_call_that_cannot_work_is_an_intrinsic_failure(call: str, data: object) -> None:
    error, cause = evaluated(call, data)

    assert error == "States.IntrinsicFailure"
    assert call.partition("(")[0] in cause


def test_a_range_of_1000_elements_is_the_largest() -> None:
    assert len(evaluated("States.ArrayRange(1, 1000, 1)")) == 1000


@pytest.mark.parametrize(
    "call",
    [
        " States.UUID()",
        "States.Nope(1)",
        "States.UUID(1)",
        "States.MathAdd(1)",
        "States.Format(1)",
        "States.Format('{}')",
        "States.Format('{')",
        r"States.Format('\"')",
        "States.Array('open)",
        "States.Array(1",
        "States.Array(1) rest",
        "States.Array(word)",
        "States.Array(1e999)",
        "States.Array($.a[)",
        "States.Array(" * 11 + ")" * 11,
    ],
)
def test_a_malformed_call_is_refused_when_the_definition_is_read(call: str) -> None:
    found = codes(alone({"Type": "Pass", "Parameters": {"v.$": call}}))

    assert [place for _, place in found] == ["/States/S/Parameters/v.$"]


def test_an_unknown_function_suggests_the_closest_one() -> None:
    from dcf.asl import validate

    problems = validate(alone({"Type": "Pass", "Parameters": {"v.$": "States.Formatt('x')"}}))

    assert "States.Format" in problems[0].hint


RANDOM = {
    "Type": "Pass",
    "Parameters": {"n.$": "States.MathRandom(1, 999)", "id.$": "States.UUID()"},
}


def test_random_functions_draw_from_the_given_generator() -> None:
    first, second, other = (
        step(parsed(RANDOM), visit_of({}), Entered(), Random(seed)) for seed in (1, 1, 2)
    )

    assert first == second != other


def test_without_a_generator_the_visit_alone_decides() -> None:
    def outcome(entered: str) -> object:
        context = {"State": {"Name": "S", "EnteredTime": entered}}
        return step(parsed(RANDOM), visit_of({}, context), Entered())

    assert outcome("2026-01-01T00:00:00Z") == outcome("2026-01-01T00:00:00Z")
    assert outcome("2026-01-01T00:00:00Z") != outcome("2026-01-01T00:00:01Z")


def test_a_uuid_is_a_version_4_uuid() -> None:
    assert uuid.UUID(evaluated("States.UUID()")).version == 4


def test_a_seed_fixes_a_random_number() -> None:
    assert evaluated("States.MathRandom(0, 1000000, 3)") == evaluated(
        "States.MathRandom(0, 1000000, 3)"
    )


@given(low=st.integers(-1000, 1000), span=st.integers(1, 1000), seed=st.integers())
def test_a_random_number_is_from_start_up_to_but_not_the_end(
    low: int, span: int, seed: int
) -> None:
    call = f"States.MathRandom({low}, {low + span}, $)"

    assert low <= evaluated(call, seed) < low + span


@given(text=st.text(max_size=50))
def test_base64_decodes_what_it_encoded(text: str) -> None:
    assert evaluated("States.Base64Decode(States.Base64Encode($))", text) == text


@given(items=st.lists(st.integers(-3, 3) | st.booleans() | st.text("ab", max_size=1)))
def test_unique_keeps_one_of_each_and_partition_loses_nothing(items: list[object]) -> None:
    chunks = evaluated("States.ArrayPartition($, 2)", items)
    unique = evaluated("States.ArrayUnique($)", items)

    assert [item for chunk in chunks for item in chunk] == items
    assert len({(type(item), item) for item in items}) == len(unique)


def test_what_is_merged_is_looked_at_before_how() -> None:
    _, cause = evaluated("States.JsonMerge($, $, true)", [1])

    assert "an object" in cause
