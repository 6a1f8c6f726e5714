"""The functions that Step Functions adds to JSONata."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import pytest
from jsonata_scope import jsonata, jsonata_cause

from dcf.asl.jsonata.expression import compile_jsonata
from dcf.asl.scope import Scope


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("$partition([1,2,3,4,5], 2)", [[1, 2], [3, 4], [5]]),
        ("$partition([1,2,3], 5)", [[1, 2, 3]]),
        ("$partition([1,2,3,4,5], 2.9)", [[1, 2], [3, 4], [5]]),
        ("$range(0, 10, 2)", [0, 2, 4, 6, 8, 10]),
        ("$range(0, 10, 3)", [0, 3, 6, 9]),
        ("$range(10, 0, -2)", [10, 8, 6, 4, 2, 0]),
        ("$range(-1.7, 2, 1)", [-1, 0, 1, 2]),
        ("$range(3, 3, 1)", 3),
        ("$hash('Hello', 'MD5')", "8b1a9953c4611296a827abf8c47804d7"),
        ("$hash('Hello', 'SHA-1')", "f7ff9e8b7bb2e09b70935a5d785e0cc5d9d0abf0"),
        ("$parse('{\"a\": [1, null]}')", {"a": [1, None]}),
        ("$parse('null')", None),
        ("$parse('1.0')", 1),
        ("$random(42)", 0.7275636800328681),  # java.util.Random
        ("$random(0.9)", 0.730967787376657),
        ("$string({'a': [1.0, 2.5, 1e21, 1e-7, null]})", '{"a":[1,2.5,1e+21,1e-7,null]}'),
        ("$string(1e20)", "100000000000000000000"),
        ("$distinct([1, '1', true, 1.0, {'a': 1}, {'a': 1}])", [1, "1", True, {"a": 1}]),
        ("$replace('John Smith', /(\\w+)\\s(\\w+)/, '$2, $1')", "Smith, John"),
        ("$replace('abcabc', 'b', 'x', 1)", "axcabc"),
        (r"$replace('abab-abc', /(?<pair>ab)\k<pair>/, '$1')", "ab-abc"),
        ("$replace('a-b-c', /-/, '+', 1)", "a+b-c"),
        ("$replace('abc', /b/, function($m) { $uppercase($m.match) })", "aBc"),
        (r"$contains('a\n', /a$/)", False),
        (r"$contains('a\nb', /a$/m)", True),
        ("$match('ab12', /[a-z]([a-z])/)", {"match": "ab", "index": 0, "groups": ["b"]}),
        ("$split('a1b22c', /\\d+/)", ["a", "b", "c"]),
        ("$split('a1b22c', /(\\d)+/)", ["a", "b", "c"]),
        ("$pad('7', -3, '0')", "007"),
        ("$pad('7', 3, '-+')", "7-+"),
        ("$lowercase('STRASSE')", "strasse"),
        ("$sort([3, 1, 2])", [1, 2, 3]),
        ("$sort([1..4], function($a, $b) { $a % 2 > $b % 2 })", [2, 4, 1, 3]),
        ("$sort(['b', 'a'], function($a, $b) { true })", ["a", "b"]),
        ("$number('12.50')", 12.5),
        ("$number('0x1F')", 31),
        ("$number(true)", 1),
        ("$map(['{\"a\":1}', '{\"a\":2}'], $parse).a", [1, 2]),
    ],
)
def test_results(text: str, result: Any) -> None:
    assert jsonata(text) == result


@pytest.mark.parametrize(
    "text",
    [
        "$partition([1,2,3], 0)",
        "$partition([], 2)",
        "$range(5, 1, 1)",
        "$range(1, 5, 0)",
        "$range(1, 5)",
        "$hash('Hello')",
        "$parse()",
    ],
)
def test_what_they_have_no_answer_for_is_undefined(text: str) -> None:
    assert jsonata_cause(text) == "returned nothing (undefined)."


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("$partition([1], -1)", "D3137: Second argument must be zero or greater"),
        ("$partition(null, 1)", "T0412"),
        ("$range(1)", "T0410"),
        ("$range('1', 2, 1)", "T0410"),
        ("$hash('Hello', 'md5')", "D3137"),
        ("$hash(42, 'MD5')", "T0410"),
        ("$parse('{')", "D3137: Invalid JSON"),
        ("$parse('1e400')", "D3137: Invalid JSON"),
        ("$parse(null)", "T0410"),
        ("$uuid(1)", "T0410"),
        ("$length(null)", "T0410"),
        ("$number(null)", "T0410"),
        ("$join(['a', null])", "T0412"),
        ("$random(1, 2)", "T0410"),
        ("$eval('1')", "T1006"),
        ("$sort(['a', 1])", "D3070"),
        ("$power(10, 400)", "D3061"),
        ("$number('1_000')", "D3030"),
        ("$number('nan')", "D3030"),
    ],
)
def test_wrong_arguments_fail_with_a_code(text: str, code: str) -> None:
    assert code in jsonata_cause(text)


def test_random_values_come_from_the_generator_of_the_scope() -> None:
    read = compile_jsonata("{% [$uuid(), $random(), $shuffle([1..9])] %}", "Output")

    first = read(Scope(None, {}, {}, Random(5)))
    second = read(Scope(None, {}, {}, Random(5)))

    assert first == second
    assert first != read(Scope(None, {}, {}, Random(6)))
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-.{12}", first[0])
