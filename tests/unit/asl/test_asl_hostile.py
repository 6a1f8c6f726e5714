"""Expressions that are written to hang or to eat the memory: each ends with an error, soon."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from asl_builders import lower_limits, machine_of, run
from campaigns import LANGUAGE, campaign, settled
from jsonata_scope import lower_jsonata_limits, peak_of_engine, spent_s

from dcf.asl import Execution, parse, validate
from dcf.problem import has_errors

pytestmark = settled(*LANGUAGE)

LONGEST_S = 5.0
"""Of processor time, a guard against hanging: the limits of an evaluation are far below."""

MOST_MEMORY = 400_000_000
"""Bytes of this process, more than twice what one evaluation may take in all."""

MOST_MEMORY_THERE = 700_000_000
"""Bytes of the engine's process, whose limit is 600 MB of data."""

A = "a" * 60
SHARED = "$reduce([1..60], function($a, $b) { [[$a], [$a]] }, 0)"
"""A small array that is 2**60 elements when it is walked."""

TREE: Any = {"a": [{"b": [{"a": [1, 2, 3] * 20}] * 10}] * 10}

JSONATA = {
    "regex: nested quantifiers": f"$match('{A}!', /^(a|aa)+$/)",
    "regex: in a filter": f"[1..100][$contains('{A}!', /^(a|aa)+$/)]",
    "regex: bounded repeats": f"$match('{A}!', /(?:(?:a{{1,1000}}){{1,1000}}){{1,1000}}b/)",
    "shared: condition": f"{SHARED} ? 1 : 2",
    "shared: and": f"{SHARED} and true",
    "shared: or": f"{SHARED} or false",
    "shared: $boolean": f"$boolean({SHARED})",
    "shared: $not": f"$not({SHARED})",
    "shared: a filter": f"{{'k': 1}}[{SHARED}]",
    "shared: $filter": f"$filter([1], function() {{ {SHARED} }})",
    "shared: $lookup": f"$lookup({SHARED}, 'k')",
    "shared: a name": f"{SHARED}.k",
    "shared: $keys": f"$keys({SHARED})",
    "shared: $spread": f"$spread({SHARED})",
    "shared: an error shows it": f"{{'a': {SHARED}}}{{a: 1}}",
    "an array constructor doubles": "$reduce([1..27], function($a, $b) { [$a, $a] }, 1)",
    "tuples": "($r := [1..800000]; $r@$a.$r@$b.($a))",
    "$zip": "($r := [1..800000]; $zip($r, $r, $r, $r, $r, $r, $r, $r, $r))",
    "$merge": "($o := $merge([1..100000].{$string($): 1}); $merge([1..9999].$o))",
    "$reverse by $map": "($r := [1..800000]; $map($map([1..800], function() { [$r] }), $reverse))",
    "a date of a billion digits": "$now('[Y,1000000000]')",
    "wide dates": "$fromMillis(1, '[Y, 9 999 999]')",
    "widest dates": "$fromMillis(1, '[Y,*-100000000]')",
    "fractions of a second": "$fromMillis(1, '[f001,99999999]')",
    "regex: replace with a function": "$replace($pad('a', 99999, 'a'), /a/, function($m)"
    " { $pad('b', 99999, 'b') })",
    "replace doubles": "$replace($pad('a', 99999, 'a'), 'a', $pad('b', 99999, 'b'))",
    "split into letters": "$split($pad('a', 6000000, 'a'), '')",
    "recursion: tail": "($f := function($n) { $f($n + 1) }; $f(1))",
    "recursion: without names": "($y := function($f) { $f($f) }; $y($y))",
    "fibonacci": "($f := function($n) { $n < 2 ? $n : $f($n - 1) + $f($n - 2) }; $f(60))",
    "a range of a billion": "[1..1000000000]",
    "a range of floats": "[1..1e300]",
    "ranges of ranges": "([1..1000].([1..1000])).([1..1000])",
    "map over big ranges": "$map([1..800000], function($x) { [1..800000] })",
    "a text doubles": "($f := function($s) { $f($s & $s) }; $f('ab'))",
    "an array doubles": "($f := function($s) { $f($append($s, $s)) }; $f([1, 2]))",
    "an object doubles": "($f := function($s) { $f({'l': $s, 'r': $s}) }; $string($f(1)))",
    "descendants of descendants": "[1..20].($states.input.**.**.**.**)",
    "eval is not there": "$eval('[1..1000000000]')",
    "pad": "$pad('', 1e9)",
    "pads": "[1..100000].$pad('x', 100000)",
    "transform over and over": "($f := function($x) { $f($x ~> |**|{'c': $x}|) }; $f({'a': 1}))",
    "reduce": "$reduce([1..800000], function($a, $b) { $append($a, [$a]) }, [1])",
    "composed functions": f"($c := function($x) {{ $x & $x }}; 'xx' ~> {' ~> '.join(['$c'] * 30)})",
    "an integer picture": "$formatInteger(1, $pad('#', 500000, '#,'))",
    "a date picture": "$fromMillis(1, $pad('[', 500000, '[Y]'))",
    "a picture that is a regex": f"$toMillis('{A}!', '(a|aa)+$[Y]')",
    "a picture of many words": f"$toMillis('{A}!', '{'[MNn]' * 30}')",
    "an option that is a regex": f"$formatNumber(1, '{A}', {{'exponent-separator': '(a|aa)+!'}})",
    "deep JSON": "$parse($pad('', 1000000, '['))",
    "roman": "$formatInteger(1e15, 'I')",
}

ANSWERED = {
    "shared: $sort": f"$sort([1, 2], function() {{ {SHARED} }})",
    "small arrays": "[1..400000].[[], [], [], []]",
    "a number picture": "$formatNumber(1, $pad('#', 500000, '#'))",
}
"""What looks as bad and has an answer, which comes soon."""


def evaluate(code: str) -> Execution:
    state = {"Type": "Pass", "QueryLanguage": "JSONata", "Output": f"{{% {code} %}}", "End": True}
    return run(machine_of(S=state), TREE)


@pytest.fixture(autouse=True)
def soon() -> Any:
    """Every test ends in time, and evaluating goes on to work."""
    started = spent_s()
    yield
    assert spent_s() - started < LONGEST_S
    assert evaluate("$sum([1..100])").output == 5050


@campaign(shares=2)
@pytest.mark.parametrize("code", JSONATA.values(), ids=JSONATA)
def test_hostile_jsonata_is_an_error(
    code: str, share: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lower_jsonata_limits(monkeypatch, share)

    execution = evaluate(code)

    assert (execution.status, execution.error) == ("FAILED", "States.QueryEvaluationError")


@pytest.mark.parametrize("code", ANSWERED.values(), ids=ANSWERED)
def test_what_only_looks_hostile_is_answered(code: str) -> None:
    assert evaluate(code).status == "SUCCEEDED"


@pytest.mark.parametrize(
    "code",
    [
        "($f := function($s) { $f({'l': $s, 'r': $s}) }; $string($f(1)))",
        "[1..100000].$pad('x', 100000)",
        "$distinct($map([1..2], function($n) { $states.input.deep }))",
        "$replace($pad('a', 99999, 'a'), /a/, $pad('b', 99999, 'b'))",
    ],
)
def test_memory_stays_bounded(code: str) -> None:
    deep: Any = "'\"\\"
    for _ in range(60):
        deep = [{"a": deep}]
    state = {"Type": "Pass", "QueryLanguage": "JSONata", "Output": f"{{% {code} %}}", "End": True}
    definition = machine_of(S=state)
    tracemalloc.start()

    with peak_of_engine() as peaks:
        run(definition, {"deep": deep})

    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < MOST_MEMORY
    assert max(peaks) < MOST_MEMORY_THERE
    assert max(peaks) > 10_000_000 or not Path("/proc/self/status").exists()


@pytest.mark.parametrize(
    "code",
    [
        *("(" * 3000 + "1" + ")" * 3000, "[" * 3000 + "]" * 3000, "-" * 3000 + "1"),
        *("+".join(["1"] * 3000), ".".join(["$states"] * 5000), "function($x){" * 800 + "1"),
        *("$match('a', /(?R)*/)", "$match('a', /(a|(?1))+/)"),
        *("/" + "(" * 500 + "a/", "'" + "x" * 300_000),
        *("$match('a', /(a{1000}){1000}/)", "$match('a', /(?:(?:a{60000}){60000}){60000}/)"),
        *("$match('a', /a{99999999999999999999}/)", "$match('a', /((a?){900} ){900}/)"),
    ],
    ids=lambda code: code[:20],
)  # fmt: skip
def test_text_that_is_hostile_to_the_parser_is_refused(code: str) -> None:
    state = {"Type": "Pass", "QueryLanguage": "JSONata", "Output": f"{{% {code} %}}", "End": True}

    assert has_errors(validate(machine_of(S=state)))


@campaign(shares=2)
@pytest.mark.parametrize(
    "path",
    [
        *("$..[?(@.a =~ /^(a|aa)+$/)]", "$..[?(@.a =~ /((a*)*)*b/)]"),
        *("$..[?(@..a == $..b)]", "$..a..a..a..a..a..a", "$..[?(@..[?(@..a)])]"),
        *("$[*]['a','a','a','a']..*..*..*", "$..[0,0,0,0,0,0]..[0,0,0,0,0,0]..[0,0,0,0]"),
    ],
)
def test_a_hostile_jsonpath_ends(path: str, share: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lower_limits(monkeypatch, share)
    value: Any = {"a": f"{A}!"}
    for _ in range(14):
        value = {"a": value, "b": [value]}

    execution = run(machine_of(S={"Type": "Pass", "InputPath": path, "End": True}), [value])

    assert execution.status == "SUCCEEDED" or execution.error == "States.Runtime"


@pytest.mark.parametrize("pattern", [r"\d{4}-\d{2}-\d{2}", "(a{100}){100}", "x{2,}y{0,9}"])
def test_a_pattern_with_few_repeats_is_fine(pattern: str) -> None:
    assert evaluate(f"$contains('x', /{pattern}/)").output is False


@pytest.mark.parametrize(
    "path",
    ["$[?(@.a =~ /(?R)/)]", "$[?(@.a =~ /(a{1000}){1000}/)]", "$" + "[?(@" * 500 + ")]" * 500],
)
def test_a_jsonpath_that_is_hostile_to_the_parser_is_refused(path: str) -> None:
    assert has_errors(validate(machine_of(S={"Type": "Pass", "InputPath": path, "End": True})))


@pytest.mark.parametrize(
    "call",
    [
        *("States.ArrayRange(0, 999999999, 1)", "States.ArrayRange(-9e300, 9e300, 1)"),
        *("States.StringToJson($.brackets)", "States.StringToJson($.digits)"),
        *("States.Base64Encode($.brackets)", "States.Hash($.brackets, 'MD5')"),
    ],
)
def test_a_hostile_intrinsic_call_is_an_error(call: str) -> None:
    state = {"Type": "Pass", "Parameters": {"p.$": call}, "End": True}

    execution = run(machine_of(S=state), {"brackets": "[" * 1_000_000, "digits": "9" * 1_000_000})

    assert execution.error == "States.IntrinsicFailure"


REPEATED = "States.Array(" + ", ".join(["$"] * 2000) + ")"


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("States.JsonToString($.p)", "States.IntrinsicFailure"),
        ("States.Format('{}', $.p)", "States.IntrinsicFailure"),
        ("States.Array($.missing)", "States.Runtime"),
        ("$.p", "States.DataLimitExceeded"),
    ],
)
def test_what_is_repeated_is_not_written_out(call: str, error: str) -> None:
    """14 MB of text, of 7 KB that the data holds two thousand times."""
    many = {"p.$": REPEATED}
    states = {
        "Once": {"Type": "Pass", "Parameters": many, "Next": "Use"},
        "Use": {"Type": "Pass", "Parameters": {"x.$": call}, "End": True},
    }
    limited = error == "States.DataLimitExceeded"

    execution = run(machine_of(**states), "x" * 7000, aws_limits=limited)

    assert execution.error == error


def test_many_different_elements_are_no_load() -> None:
    state = {"Type": "Pass", "Parameters": {"p.$": "States.ArrayUnique($)"}, "End": True}
    items = [{"n": [number]} for number in range(40_000)]

    assert run(machine_of(S=state), [*items, *items]).output == {"p": items}


def test_a_sum_cannot_grow_without_end() -> None:
    state = {"Type": "Pass", "Parameters": {"n.$": "States.MathAdd($.n, $.n)"}, "Next": "S"}
    definition = machine_of(
        S=state | {"Next": "C"},
        C={"Type": "Choice", "Choices": [{"Variable": "$.n", "IsNumeric": True, "Next": "S"}]},
    )
    definition["States"]["C"]["Default"] = "E"
    definition["States"]["E"] = {"Type": "Succeed"}

    assert run(definition, {"n": 1}).error == "States.IntrinsicFailure"


def test_a_hostile_choice_pattern_ends() -> None:
    rule = {"Variable": "$.x", "StringMatches": "*a" * 40 + "b", "Next": "E"}
    choice = {"Type": "Choice", "Choices": [rule], "Default": "E"}

    execution = run(machine_of(C=choice, E={"Type": "Succeed"}), {"x": "a" * 2000})

    assert execution.status == "SUCCEEDED"


def test_a_date_without_a_year_takes_it_from_the_state() -> None:
    # The clock of the machine that runs this must not show.
    code = "$fromMillis($toMillis('03', '[M]'), '[Y]-[M01]')"

    assert evaluate(code).output == "1970-03"


def test_a_hostile_expression_hangs_nobody_who_only_reads_it() -> None:
    states = {
        f"S{number}": {"Type": "Pass", "QueryLanguage": "JSONata", "Output": f"{{% {code} %}}"}
        | {"Next": f"S{number + 1}"}
        for number, code in enumerate(JSONATA.values())
    }
    states[f"S{len(JSONATA)}"] = {"Type": "Succeed"}

    assert parse({"StartAt": "S0", "States": states})


@pytest.mark.parametrize(
    "code",
    [
        *("$floor(1/0)", "$uppercase + 1", "$formatBase(1, 99)", "$join([1])"),
        *("$formatNumber(1, '0', {'zero-digit': 'AB'})", "$fromMillis(1, '[Ywwwwwwwww]')"),
    ],
)
def test_a_cause_says_nothing_of_python(code: str) -> None:
    cause = str(evaluate(code).cause).replace(code, "")

    assert "during evaluation" in cause
    assert not any(word in cause for word in ("class", "ord()", "float", "JNative", "%s"))


AMPLIFIED = ["{% $states.input.x %}"] * 300


@pytest.mark.parametrize(
    "state",
    [
        {"Type": "Pass", "Output": AMPLIFIED, "End": True},
        {"Type": "Pass", "Assign": {"all": AMPLIFIED}, "End": True},
        {"Type": "Task", "Resource": "work", "Arguments": AMPLIFIED, "End": True},
    ],
    ids=["Output", "Assign", "Arguments"],
)
def test_a_payload_that_a_template_blows_up_is_an_error(state: dict[str, Any]) -> None:
    definition = machine_of(S={**state, "QueryLanguage": "JSONata"})

    execution = run(definition, {"x": "a" * 100_000})

    assert (execution.status, execution.error) == ("FAILED", "States.DataLimitExceeded")


def test_a_payload_that_doubles_in_every_state_is_an_error() -> None:
    double = {"Type": "Pass", "Parameters": {"a.$": "$", "b.$": "$"}}
    states = {f"S{number}": {**double, "Next": f"S{number + 1}"} for number in range(60)}

    execution = run(machine_of(**states, S60={"Type": "Succeed"}), {"text": "x" * 10_000})

    assert (execution.status, execution.error) == ("FAILED", "States.DataLimitExceeded")


def test_a_catcher_cannot_blow_up_a_payload_either() -> None:
    branch = {"StartAt": "B", "States": {"B": {"Type": "Succeed"}}}
    catch = [{"ErrorEquals": ["States.ALL"], "Next": "Z", "Output": AMPLIFIED}]
    state = {"Type": "Parallel", "QueryLanguage": "JSONata", "Arguments": "{% $error('x') %}"}
    parallel = {**state, "Branches": [branch], "Catch": catch, "End": True}

    execution = run(machine_of(S=parallel, Z={"Type": "Succeed"}), {"x": "a" * 100_000})

    assert (execution.status, execution.error) == ("FAILED", "States.DataLimitExceeded")


def test_a_large_payload_that_does_not_grow_goes_on() -> None:
    large = {"x": "a" * 15_000_000}

    execution = run(machine_of(S={"Type": "Pass", "End": True}), large)

    assert execution.output is large
