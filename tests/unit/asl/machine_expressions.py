"""Values, paths and expressions for generated definitions: most fit FITTING inputs, some fail."""

from __future__ import annotations

from hypothesis import strategies as st

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 5)
    | st.sampled_from([1.5, 1e308, -0.0, 2**53, 10**400, "", "x", "é𝄞", "\x00", "\ud800", "3"])
    | st.sampled_from(["2030-01-01T00:00:00Z", "9999-12-31T23:59:59Z", '{"a":[1]}'])
)
PAYLOADS = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abn"), inner, max_size=3)
    ),
    max_leaves=6,
)
FITTING = st.fixed_dictionaries(
    {"a": PAYLOADS, "b": st.fixed_dictionaries({"c": LEAVES}), "n": st.integers(0, 3)}
    | {"list": st.lists(PAYLOADS, max_size=3), "at": st.just("2030-01-01T00:00:00Z")}
)
"""Inputs of the shape that most expressions expect."""

PATHS = st.sampled_from(
    [
        *("$", "$.a", "$.b.c", "$.n", "$.list", "$.list[0]", "$.list[*].a", "$..a", "$v", "$v.a"),
        *("$w[0]", "$$.State.Name", "$$.Execution.Input", "$.list[?(@.a)]", "$.missing"),
        "$.list[-1:]",
    ]
)
ROOTS = st.sampled_from(["$"] * 6 + ["$.b", "$.list", "$..a", "$v", "$$.Execution.Input", None])
PLACES = st.sampled_from(["$", "$.n", "$.a", "$v", "$.b.c", "$w[1].a"])
CALLS = st.sampled_from(
    """States.Format('{}-{}', $.n, $.a)
    States.Array($.a, $.n)
    States.UUID()
    States.ArrayRange(0, $.n, 1)
    States.MathAdd($.n, 1)
    States.MathRandom(0, 9)
    States.JsonToString($)
    States.StringToJson($.a)
    States.Hash($.a, 'MD5')
    States.ArrayUnique($.list)
    States.Base64Encode($.a)
    States.JsonMerge($, $.b, false)""".splitlines()
).map(str.strip)
RESULT_PATHS = st.sampled_from(["$.r", "$.r", "$.b.r", "$", None])
CODE = st.sampled_from(
    """$states.input
    $states.input.a
    $states.input.n
    $states.input.list
    $v
    $w[0].a
    $states.context.State.Name
    $states.input.list.a
    $sum($states.input.list)
    null
    $map($states.input.list, function($x) { $x.a })
    $states.input.n > 1
    'text'
    [1..3]
    {'v': $v, 'n': $states.input.n}
    $uuid()
    $range(0, $states.input.n, 1)
    $random()
    $states.input.missing
    $string($states.input)
    $states.input.**.a
    $v & 'x'
    1 / 0
    $hash($string($states.input.a), 'MD5')
    $merge([$states.input, {'n': 2}])
    -1
    2.5""".splitlines()
).map(lambda code: f"{{% {code.strip()} %}}")
NUMBER_CODE = st.sampled_from(["{% $states.input.n %}", "{% $v %}", "{% 2 %}", "{% $w[0] %}"])
ERRORS = st.sampled_from(
    [
        *("E", "States.Timeout", "States.TaskFailed", "States.HeartbeatTimeout", "States.Runtime"),
        *("States.QueryEvaluationError", "States.BranchFailed", "States.DataLimitExceeded"),
        *("States.ExceedToleratedFailureThreshold", "States.ItemReaderFailed"),
    ]
)
COMPARISONS = st.sampled_from(
    [
        *(("IsPresent", True), ("IsNull", False), ("IsNumeric", True), ("IsTimestamp", False)),
        *(("NumericGreaterThan", 1), ("NumericEqualsPath", "$.n"), ("StringLessThan", "m")),
        *(("StringMatches", "a*"), ("BooleanEquals", True), ("IsString", True)),
        *(("TimestampLessThan", "2031-01-01T00:00:00Z"), ("TimestampEqualsPath", "$.at")),
    ]
)
TEMPLATES = st.dictionaries(st.sampled_from(["p.$", "q.$"]), PATHS | CALLS, max_size=2).map(
    lambda found: {"fixed": [1, {"k": "v"}], **found}
)
VALUES = CODE | st.fixed_dictionaries({"k": CODE, "l": st.lists(CODE, max_size=2), "m": st.just(1)})

LAMBDA = "arn:aws:states:::lambda:invoke"
RESOURCES = st.sampled_from(
    [
        *("work", LAMBDA, f"{LAMBDA}.waitForTaskToken", "arn:aws:states:::x:run.sync"),
    ]
)
STANDARD = {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}
