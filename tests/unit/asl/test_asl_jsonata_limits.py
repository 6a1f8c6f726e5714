"""A hostile JSONata expression ends with an error, soon and without eating the memory."""

from __future__ import annotations

import time

import pytest
from asl_builders import lower_limits
from campaigns import campaign
from jsonata_scope import jsonata, jsonata_cause

from dcf.asl import evaluation_budget

MEMORY = "Expression evaluation memory limit exceeded: Check for excessive memory usage"
TIME = "Expression evaluation timeout: Check for infinite loop"
DEPTH = "Stack overflow error"
FACTORIAL = "($f := function($x) { $x <= 0 ? 0 : 1 + $f($x - 1) }; $f(%d))"
DOUBLED = "($f := function($s, $n) { $n = 0 ? $s : $f($s & $s, $n - 1) }; $length($f('x', %d)))"
TREE = "($f := function($s, $n) { $n = 0 ? $s : $f({'l': $s, 'r': $s}, $n - 1) }; $f(1, 60))"
A = "a" * 60 + "!"


def test_depth_as_far_as_step_functions_goes() -> None:
    assert jsonata(FACTORIAL % 31) == 31
    assert DEPTH in jsonata_cause(FACTORIAL % 32)
    assert DEPTH in jsonata_cause(FACTORIAL % 1_000_000)


def test_a_text_doubles_until_it_is_too_big() -> None:
    assert jsonata(DOUBLED % 22) == 2**22
    assert MEMORY in jsonata_cause(DOUBLED % 23)


def test_ranges() -> None:
    assert jsonata("$count([1..873782])") == 873_782
    assert MEMORY in jsonata_cause("[1..873783]")
    assert jsonata("$count($range(1, 360145, 1))") == 360_145
    assert MEMORY in jsonata_cause("$range(1, 360146, 1)")


@campaign(shares=2)
@pytest.mark.parametrize(
    "text",
    [
        "[1..10000000]",
        "$range(1, 1000000000000, 1)",
        "$pad('x', 1000000000)",
        "$pad('x', -1000000000, 'ab')",
        "[1..800000].[1..800000]",
        "[1..100000].$pad('x', 100000)",
        "$join($map([1..100000], function($n) { $pad('x', 1000) }), 'x')",
        "$replace($pad('a', 100000, 'a'), 'a', $pad('b', 100000, 'b'))",
        "$replace($pad('a', 100000, 'a'), /a/, $pad('b', 100000, 'b'))",
        f"{TREE}",
        f"$string({TREE})",
        f"{TREE} = {TREE}",
        f"$count(({TREE}).**)",
        f"{TREE} ~> |l|{{'a': 1}}|",
        f"$distinct([{TREE}, {TREE}])",
        f"{TREE} in [{TREE}]",
        "($f := function($x) { $f($x + 1) }; $f(1))",
        "$map([1..800000], function($x) { $map([1..800000], function($y) { $x * $y }) })",
        f"$match('{A}', /^(a|aa)+$/)",
        f"$contains('{A}', /^(a|aa)+$/)",
        f"$replace('{A}', /^(a|aa)+$/, 'b')",
        f"$split('{A}', /^(a|aa)+$/)",
        "$sort([1..800000], function($a, $b) { $a < $b })",
        "$reduce([1..800000], function($a, $b) { $append($a, $b) }, [])",
    ],
)
def test_blow_ups_meet_a_limit(text: str, share: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lower_limits(monkeypatch, share)
    started = time.thread_time()

    cause = jsonata_cause(text)

    assert MEMORY in cause or TIME in cause or DEPTH in cause
    assert time.thread_time() - started < 4


def test_steps_end_an_expression_and_not_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation_budget.time, "thread_time", lambda: 0.0)

    assert jsonata("$count([1..100000].($ * 2))") == 100_000
    assert TIME in jsonata_cause("($f := function($x) { $f($x + 1) }; $f(1))")


def test_the_processor_time_ends_what_counts_no_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter(range(1000))
    monkeypatch.setattr(evaluation_budget.time, "thread_time", lambda: float(next(moments)))

    assert TIME in jsonata_cause("$sum([1..1000].($ * 2))")
