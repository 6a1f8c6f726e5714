"""Whole definitions that validate: every state is reachable, the last one ends the machine.

Most states hand on data of the shape that the next one expects, so that most executions get as far
as their Tasks; some expressions find nothing, or what does not fit. Some transitions lead back, so
an execution may run out of steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from machine_expressions import (
    CODE,
    COMPARISONS,
    FITTING_INPUT,
    FITTING_ITEM,
    HANDLED,
    KEPT,
    KEPT_AND_ITEM,
    KEPT_AND_RESULT,
    NUMBER_CODE,
    PATHS,
    PAYLOADS,
    PLACES,
    RESOURCES,
    RESULT_PATHS,
    ROOTS,
    STANDARD,
    TEMPLATES,
    TIMES,
    VALUES,
    mostly,
)

Json = dict[str, Any]

FIRST = {
    "Type": "Pass",
    "QueryLanguage": "JSONata",
    "Assign": {"v": "{% $exists($states.input.n) ? $states.input.n : 0 %}", "w": [1, {"a": 2}]},
    "Next": "S0",
}
"""Gives the variables that expressions read."""

COUNTS = {2: (2, 4), 1: (1, 2), 0: (1, 2)}
"""How many states stand in a row, by how deep others may stand in them."""


@dataclass(frozen=True)
class _Where:
    """A machine: how deep others may stand in it, whose language is JSONata, its names."""

    depth: int
    jsonata: bool
    prefix: str
    count: int

    def later(self, number: int, draw: st.DrawFn) -> str:
        """A state after number ``number``, seldom one before it."""
        if number and draw(st.integers(0, 19)) == 0:
            return f"{self.prefix}{draw(st.integers(0, number))}"
        return f"{self.prefix}{draw(st.integers(number + 1, self.count))}"

    def inner(self, number: int, mark: str) -> st.SearchStrategy[Json]:
        return machines(self.depth - 1, self.jsonata, f"{self.prefix}{number}{mark}")


@st.composite
def definitions(draw: st.DrawFn) -> Json:
    """A definition without errors."""
    jsonata = draw(st.booleans())
    machine = draw(machines(2, jsonata))
    states = {"First": dict(FIRST), **machine["States"]}
    definition: Json = {"States": states, "StartAt": "First"}
    if jsonata:
        definition["QueryLanguage"] = "JSONata"
        del states["First"]["QueryLanguage"]
    if draw(st.integers(0, 7)) == 7:
        definition["TimeoutSeconds"] = draw(st.sampled_from([5, 1000, 1000]))
    return definition


@st.composite
def machines(draw: st.DrawFn, depth: int, jsonata: bool, prefix: str = "S") -> Json:
    """A chain of states S0, S1 …, the last of which ends it."""
    where = _Where(depth, jsonata, prefix, draw(st.integers(*COUNTS[depth])))
    kinds = ["Task", "Task", "Task", "Pass", "Wait", "Choice"] + (
        ["Map", "Map", "Parallel"] if depth else []
    )
    states: Json = {}
    for number in range(where.count):
        kind = draw(st.sampled_from(kinds))
        speaks_jsonata = jsonata or draw(st.booleans())
        make = _jsonata_state if speaks_jsonata else _jsonpath_state
        state = draw(make(kind, where, number))
        if speaks_jsonata and not jsonata:
            state["QueryLanguage"] = "JSONata"
        states[f"{prefix}{number}"] = state
    last = draw(st.sampled_from([{"Type": "Succeed"}] * 11 + [{"Type": "Fail", "Error": "E"}]))
    states[f"{prefix}{where.count}"] = dict(last)
    return {"StartAt": f"{prefix}0", "States": states}


@st.composite
def _jsonpath_state(draw: st.DrawFn, kind: str, where: _Where, number: int) -> Json:
    state: Json = {"Type": kind}
    _put(draw, state, "InputPath", ROOTS)
    _put(draw, state, "OutputPath", ROOTS)
    if kind == "Choice":
        return state | _choices(draw, where, number, jsonata=False)
    state["Next"] = f"{where.prefix}{number + 1}"
    _put(draw, state, "Assign", PATHS.map(lambda path: {"v.$": path}))
    if kind == "Wait":
        fixed = [{"Seconds": 99999999}, {"Timestamp": "2030-01-01T00:00:00Z"}]
        found = [{"SecondsPath": draw(PLACES)}, {"TimestampPath": draw(TIMES)}]
        return state | draw(st.sampled_from([*fixed, *found, {"SecondsPath": "$.n"}]))
    _put(draw, state, "ResultPath", RESULT_PATHS, seldom_not=True)
    if kind == "Pass":
        _put(draw, state, "Result", PAYLOADS)
    # What branches are given is what their states read.
    if kind in ("Task", "Pass"):
        _put(draw, state, "Parameters", TEMPLATES)
    elif kind == "Parallel":
        _put(draw, state, "Parameters", mostly(st.just(FITTING_INPUT), TEMPLATES))
    if kind != "Pass":
        _put(draw, state, "ResultSelector", TEMPLATES)
        state |= _errors(draw, where, number, jsonata=False)
    if kind == "Task":
        _put(draw, state, "TimeoutSecondsPath", PLACES)
    return state | _work(draw, kind, where, number, jsonata=False)


@st.composite
def _jsonata_state(draw: st.DrawFn, kind: str, where: _Where, number: int) -> Json:
    state: Json = {"Type": kind}
    if kind == "Choice":
        _put(draw, state, "Output", mostly(KEPT, VALUES))
        return state | _choices(draw, where, number, jsonata=True)
    state["Next"] = f"{where.prefix}{number + 1}"
    _put(draw, state, "Assign", st.fixed_dictionaries({"v": CODE, "u": st.just("{% $v %}")}))
    if kind in ("Pass", "Wait"):
        _put(draw, state, "Output", mostly(KEPT, VALUES))
    if kind == "Wait":
        times = mostly(st.just("{% $states.input.at %}"), CODE)
        fixed = [{"Seconds": draw(NUMBER_CODE)}, {"Seconds": 7}, {"Timestamp": draw(times)}]
        return state | draw(st.sampled_from(fixed))
    if kind in ("Task", "Parallel"):
        _put(draw, state, "Arguments", VALUES if kind == "Task" else mostly(KEPT, VALUES))
    if kind != "Pass":
        kept = mostly(st.just(KEPT_AND_RESULT), KEPT | VALUES)
        _put(draw, state, "Output", kept, seldom_not=True)
        state |= _errors(draw, where, number, jsonata=True)
    if kind == "Task":
        _put(draw, state, "TimeoutSeconds", NUMBER_CODE)
    return state | _work(draw, kind, where, number, jsonata=True)


def _work(draw: st.DrawFn, kind: str, where: _Where, number: int, jsonata: bool) -> Json:
    """The work of a Task, Parallel or Map."""
    if kind == "Task":
        limits = [{}, {}, {"HeartbeatSeconds": 3}]
        return {"Resource": draw(RESOURCES), **draw(st.sampled_from(limits))}
    if kind == "Parallel":
        marks = "pq"[: draw(st.integers(1, 2))]
        return {"Branches": [draw(where.inner(number, mark)) for mark in marks]}
    if kind == "Map":
        return _map(draw, where, number, jsonata)
    return {}


def _map(draw: st.DrawFn, where: _Where, number: int, jsonata: bool) -> Json:
    inner = draw(where.inner(number, "m"))
    name = "ItemProcessor" if jsonata or draw(st.booleans()) else "Iterator"
    state: Json = {name: inner}
    if jsonata:
        _put(draw, state, "ItemSelector", mostly(st.just(KEPT_AND_ITEM), VALUES), seldom_not=True)
        _put(draw, state, "MaxConcurrency", NUMBER_CODE | st.integers(0, 2))
    else:
        others = TEMPLATES.map(lambda found: {**found, "item.$": "$$.Map.Item.Value"})
        name = draw(st.sampled_from(["ItemSelector", "Parameters"]))
        _put(draw, state, name, mostly(st.just(FITTING_ITEM), others), seldom_not=True)
        field = draw(st.sampled_from(["MaxConcurrency", "MaxConcurrencyPath"]))
        _put(draw, state, field, st.just(2) if field == "MaxConcurrency" else st.just("$.n"))
    distributed = draw(st.booleans())
    if distributed:
        inner["ProcessorConfig"] = STANDARD
        state |= _distribution(draw, jsonata)
    if "ItemReader" not in state:
        field, value = ("Items", "{% $states.input.list %}") if jsonata else ("ItemsPath", "$.list")
        _put(draw, state, field, st.just(value), seldom_not=True)
    return state


def _distribution(draw: st.DrawFn, jsonata: bool) -> Json:
    """What only a distributed Map may have."""
    given = "Arguments" if jsonata else "Parameters"
    state: Json = {}
    if draw(st.integers(0, 2)) == 0:
        kind, key = draw(
            st.sampled_from([("JSON", "k.json"), ("JSONL", "k.jsonl"), ("CSV", "k.csv")])
        )
        config = {"InputType": kind} | ({"CSVHeaderLocation": "FIRST_ROW"} if kind == "CSV" else {})
        key = draw(st.sampled_from([key, key, "none"]))
        reader = {"Resource": "arn:aws:states:::s3:getObject", "ReaderConfig": config}
        state["ItemReader"] = {**reader, given: {"Bucket": "b", "Key": key}}
    batcher = [{"MaxItemsPerBatch": 2}, {"MaxInputBytesPerBatch": 60, "BatchInput": {"x": 1}}]
    _put(draw, state, "ItemBatcher", st.sampled_from(batcher))
    _put(draw, state, "ToleratedFailureCount", st.integers(0, 2))
    _put(draw, state, "ToleratedFailurePercentage", st.sampled_from([0, 50, 33.3, 100]))
    writer = {"Resource": "arn:aws:states:::s3:putObject", given: {"Bucket": "out", "Prefix": "p"}}
    shaped = {"WriterConfig": {"Transformation": "FLATTEN", "OutputType": "JSON"}}
    _put(draw, state, "ResultWriter", st.sampled_from([writer, shaped, writer | shaped]))
    return state


def _choices(draw: st.DrawFn, where: _Where, number: int, jsonata: bool) -> Json:
    rules = []
    for _ in range(draw(st.integers(1, 2))):
        rule: Json = {"Next": where.later(number, draw)}
        if jsonata:
            rule["Condition"] = draw(st.sampled_from(["{% $v > 1 %}", True, "{% $exists($v) %}"]))
            _put(draw, rule, "Output", mostly(KEPT, VALUES))
            _put(draw, rule, "Assign", CODE.map(lambda code: {"v": code}))
        else:
            rule |= draw(_predicates())
            _put(draw, rule, "Assign", PATHS.map(lambda path: {"v.$": path}))
        rules.append(rule)
    return {"Choices": rules, "Default": f"{where.prefix}{number + 1}"}


def _predicates() -> st.SearchStrategy[Json]:
    simple = st.builds(lambda path, test: {"Variable": path, test[0]: test[1]}, PATHS, COMPARISONS)
    several = st.lists(simple, min_size=1, max_size=2)
    return (
        simple
        | simple.map(lambda rule: {"Not": rule})
        | several.map(lambda rules: {"And": rules})
        | several.map(lambda rules: {"Or": [{"Not": rules[0]}, *rules]})
    )


def _errors(draw: st.DrawFn, where: _Where, number: int, jsonata: bool) -> Json:
    """``Retry`` and ``Catch``."""
    found: Json = {}
    if draw(st.integers(0, 2)):
        attempts = draw(st.sampled_from([1, 2, 3, 0]))
        retrier = {"ErrorEquals": draw(HANDLED), "MaxAttempts": attempts}
        shapes: list[Json] = [{}, {"BackoffRate": 1.5, "JitterStrategy": "FULL"}]
        shapes += [{"IntervalSeconds": 99999999, "BackoffRate": 10}, {"MaxDelaySeconds": 9}]
        found["Retry"] = [retrier | draw(st.sampled_from(shapes))]
    if draw(st.integers(0, 2)):
        catcher: Json = {"ErrorEquals": draw(HANDLED), "Next": where.later(number, draw)}
        if jsonata:
            was = st.just({"was": "{% $states.errorOutput.Error %}"})
            _put(draw, catcher, "Output", mostly(KEPT, was), seldom_not=True)
            _put(draw, catcher, "Assign", st.just({"v": "{% $states.errorOutput %}"}))
        else:
            _put(draw, catcher, "ResultPath", RESULT_PATHS, seldom_not=True)
            _put(draw, catcher, "Assign", st.just({"v.$": "$.Error"}))
        found["Catch"] = [catcher]
    return found


def _put(
    draw: st.DrawFn,
    state: Json,
    field: str,
    values: st.SearchStrategy[Any],
    *,
    seldom_not: bool = False,
) -> None:
    """Write ``field`` in one of three times, or in all but one of nine."""
    chance = draw(st.integers(0, 8))
    if chance > 0 if seldom_not else chance > 5:
        state[field] = draw(values)
