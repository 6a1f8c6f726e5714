"""A hostile JSONata expression ends with an error, soon and without eating the memory."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from campaigns import LANGUAGE, campaign, settled
from jsonata_scope import jsonata, jsonata_cause, lower_jsonata_limits

from dcf.asl import EvaluationError
from dcf.asl.jsonata import engine, evaluator

pytestmark = settled(*LANGUAGE)

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
    lower_jsonata_limits(monkeypatch, share)

    cause = jsonata_cause(text)

    assert MEMORY in cause or TIME in cause or DEPTH in cause


def test_many_steps_are_no_hang() -> None:
    assert jsonata("$count([1..200000].($ * 2))") == 200_000
    assert jsonata("$count([1..256].($a := $; [1..256].($a * $)))") == 65_536
    assert jsonata("($f := function($n, $p) { $n < 2 ? $p : $f($n - 1, $n + $p) }; $f(9999, 1))")


def test_the_distinct_ones_of_many_are_found_soon() -> None:
    assert jsonata("$count($distinct([1..100000]))") == 100_000
    assert jsonata("$distinct($map([1..100000], function($n) { $n % 2 }))") == [1, 0]
    assert jsonata("$distinct($map([1..100000], function() { 7 }))") == 7
    assert jsonata("$distinct($states.input)", [[7]] * 3000) == [[7]]


def test_an_expression_that_ends_its_process_ends_no_other() -> None:
    for _ in range(2):
        assert MEMORY in jsonata_cause("$replace($pad('a', 99999, 'a'), 'a', $pad('b', 99999))")
        assert jsonata("[1..2]") == [1, 2]


@pytest.mark.parametrize(
    ("text", "cause", "ended_by"),
    [
        ("$boolean($reduce([1..60], function($a, $b) { [[$a], [$a]] }, 0))", TIME, signal.SIGPROF),
        ("$replace($pad('a', 99999, 'a'), 'a', $pad('b', 99999))", MEMORY, signal.SIGABRT),
    ],
)
def test_the_system_ends_what_takes_too_much(text: str, cause: str, ended_by: int) -> None:
    """Measured by the system: processor time; and its limit of memory."""
    assert cause in jsonata_cause(text)

    process = engine._Engine()._running()
    assert process.stdin is not None and process.stdout is not None
    with process.stdin, process.stdout:
        for asked in ("1", text):
            process.stdin.write(json.dumps([asked, False, 0, 0, 0]).encode() + b"\n{}\n")
            process.stdin.flush()
            if asked == "1":
                assert process.stdout.readline() == b"=1\n"
                memory, _ = resource.prlimit(process.pid, resource.RLIMIT_AS)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)

    seconds = usage.ru_utime + usage.ru_stime
    assert process.returncode == -ended_by
    assert memory == evaluator.MEMORY_LIMIT == 600_000_000
    # A start of the process takes some of it, far less than a second; the timer goes by ticks, in
    # which others may have run too.
    assert seconds < evaluator.TIME_LIMIT_S + 1
    assert (seconds > 0.75 * evaluator.TIME_LIMIT_S) == (cause == TIME)


def test_a_process_that_somebody_ended_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def watched(*given: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(start(*given, **options))
        return started[-1]

    monkeypatch.setattr(engine, "_engine", engine._Engine())
    monkeypatch.setattr(engine.subprocess, "Popen", watched)
    assert jsonata("[1..2]") == [1, 2]
    started[0].kill()
    started[0].wait()

    assert jsonata("[1..3]") == [1, 2, 3]
    assert len(started) == 2
    engine._engine.close()
    assert started[1].poll() == 0


def test_a_process_that_stands_still_is_ended_and_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine, "_engine", engine._Engine(patience_s=1.0))
    assert jsonata("[1..2]") == [1, 2]
    process = engine._engine._process
    assert process is not None
    process.send_signal(signal.SIGSTOP)

    assert jsonata("[1..3]") == [1, 2, 3]
    assert process.returncode == -signal.SIGKILL
    engine._engine.close()


def test_an_expression_that_nobody_answers_is_out_of_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    silent = engine._Engine("import time; time.sleep(60)", patience_s=0.2)
    monkeypatch.setattr(engine, "_engine", silent)

    assert TIME in jsonata_cause("[1..2]")


def test_a_program_that_cannot_start_is_no_fault_of_the_expression(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine, "_engine", engine._Engine("raise SystemExit(3)"))

    with pytest.raises(RuntimeError, match="it ended with 3"):
        jsonata("[1..2]")


def test_the_time_of_one_expression_is_not_taken_from_the_next() -> None:
    assert evaluator._answer(b'["1 + 1", false, 0, 0, 0]', b"{}") == b"=2"
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    assert evaluator._answer(b'["$error(1)", false, 0, 0, 0]', b"{}").startswith(b"!")
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


@pytest.mark.parametrize("wrap", [lambda inner: {"v": inner}, lambda inner: [inner]])
@pytest.mark.parametrize("text", ["$v", "{'v': $v}", "$count($string($v))"])
def test_data_that_nests_too_deep_is_an_error_of_the_expression(
    text: str, wrap: Callable[[Any], Any]
) -> None:
    """At whatever depth which part of the way gives up; Python's own limit is near 1,000."""
    value: Any = 1
    for depth in range(1_100):
        value = wrap(value)
        if depth > 900:
            with suppress(EvaluationError):
                jsonata(text, v=value)
