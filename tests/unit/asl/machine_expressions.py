"""Values, paths and expressions for generated definitions: most fit FITTING inputs, some fail."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st


def mostly(usual: st.SearchStrategy[Any], rare: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """``usual``, and one time in twelve ``rare``: a machine of ten states has to come to its
    end often enough."""
    return st.integers(0, 11).flatmap(lambda drawn: rare if drawn == 11 else usual)


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
    | {"list": mostly(st.lists(PAYLOADS, min_size=2, max_size=3), st.lists(PAYLOADS, max_size=1))}
    | {"at": st.just("2030-01-01T00:00:00Z"), "soon": st.integers(1, 3)}
)
"""Inputs of the shape that most expressions expect."""
FITTING_INPUT = {f"{name}.$": f"$.{name}" for name in ("a", "b", "n", "list", "at", "soon")}
FITTING_ITEM = {**FITTING_INPUT, "item.$": "$$.Map.Item.Value"}
"""Templates that give a branch or an item that shape."""

PATHS = mostly(
    st.sampled_from(
        [
            *("$", "$.a", "$.b.c", "$.n", "$.list", "$.list[*].a", "$..a", "$v", "$w[0]"),
            *("$w[1].a", "$$.State.Name", "$$.Execution.Input", "$.list[?(@.a)]", "$.list[-1:]"),
        ]
    ),
    st.sampled_from(["$.list[0]", "$v.a", "$.missing"]),
)
ROOTS = mostly(
    st.sampled_from(["$", "$$.Execution.Input"]),
    st.sampled_from(["$.b", "$.list", "$..a", "$v", None]),
)
PLACES = mostly(
    st.sampled_from(["$.soon", "$$.Execution.Input.soon", "$w[0]"]),
    st.sampled_from(["$", "$.n", "$.a", "$v", "$.b.c"]),
)
"""Of numbers above 0."""
TIMES = mostly(st.sampled_from(["$.at", "$$.Execution.Input.at"]), PLACES)
CALLS = mostly(
    st.sampled_from(
        """States.Format('{}-{}', $.n, $.at)
        States.Array($.a, $.n)
        States.UUID()
        States.ArrayRange(0, $.n, 1)
        States.MathAdd($.n, 1)
        States.MathRandom(0, 9)
        States.JsonToString($)
        States.Hash($.at, 'MD5')
        States.Base64Encode($.at)
        States.JsonMerge($, $.b, false)""".splitlines()
    ),
    st.sampled_from(
        """States.Format('{}', $.a)
        States.StringToJson($.a)
        States.Hash($.a, 'MD5')
        States.ArrayUnique($.list)
        States.Base64Encode($.a)""".splitlines()
    ),
).map(str.strip)
RESULT_PATHS = mostly(st.sampled_from(["$.r", "$.r", "$.b", None]), st.sampled_from(["$", "$.b.r"]))
CODE = mostly(
    st.sampled_from(
        """$states.input
        $states.input.a
        $states.input.n
        $states.input.list
        $v
        $w[1].a
        $states.context.State.Name
        null
        $states.input.n > 1
        'text'
        [1..3]
        {'v': $v, 'n': $states.input.n}
        $uuid()
        $range(0, $states.input.n, 1)
        $random()
        $string($states.input)
        $hash($states.input.at, 'MD5')
        $merge([$states.input, {'n': 2}])
        -1
        2.5""".splitlines()
    ),
    st.sampled_from(
        """$sum($states.input.list)
        $w[0].a
        $states.input.list.a
        $map($states.input.list, function($x) { $x.a })
        $states.input.missing
        $states.input.**.a
        $v & 'x'
        1 / 0""".splitlines()
    ),
).map(lambda code: f"{{% {code.strip()} %}}")
NUMBER_CODE = mostly(
    st.sampled_from(["{% $states.input.soon %}", "{% 2 %}", "{% $w[0] %}"]),
    st.sampled_from(["{% $states.input.n %}", "{% $v %}"]),
)
"""Of numbers above 0."""
KEPT = st.sampled_from(["{% $states.input %}", "{% $states.context.Execution.Input %}"])
"""Outputs and arguments of the shape that the next state expects."""
KEPT_AND_RESULT = "{% $merge([$states.input, {'r': $states.result}]) %}"
KEPT_AND_ITEM = "{% $merge([$states.input, {'item': $states.context.Map.Item.Value}]) %}"
ERRORS = mostly(
    st.sampled_from(["E", "E", "States.Timeout", "States.TaskFailed", "States.HeartbeatTimeout"]),
    st.sampled_from(
        [
            *("States.Runtime", "States.QueryEvaluationError", "States.BranchFailed"),
            *("States.ExceedToleratedFailureThreshold", "States.ItemReaderFailed"),
            "States.DataLimitExceeded",
        ]
    ),
)
HANDLED = mostly(
    st.sampled_from([["States.ALL"], ["E", "States.Timeout"], ["States.TaskFailed"]]),
    st.lists(ERRORS, min_size=1, max_size=2),
)
"""``ErrorEquals``."""
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
