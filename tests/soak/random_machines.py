"""Random machines in JSONPath, with an input and errors of their Tasks: how an execution ends
depends on nothing else, and one seed gives one case."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

Json = dict[str, Any]

_LEAVES = (None, True, False, 0, 1, -3, 2.5, 10, "", "x", "abc", "2030-01-01T00:00:00Z", "7")
_NAMES = ("a", "b", "c", "list")
_PLACES = ("$.a", "$.b", "$.b.c", "$.n", "$.list", "$.s")
_PATHS = (*_PLACES, "$", "$['a']", "$.b['c']", "$.list[0]", "$.b.list[1]", "$.r")
_SEVERAL = ("$..c", "$.list[*]", "$.list[0,1]", "$.list[1:]", "$.b.list[:2]", "$.*", "$.list[*].a")
_SEVERAL += ("$.b.list[-1:]",)
_RESULTS = ("$.r", "$.r", "$.r", "$.b.r", "$.b.r.s", None)
_ERRORS = ("E.One", "E.Two")
_MATCHERS = (["States.ALL"], ["E.One"], ["E.One", "E.Two"])

_CALLS = r"""
States.Format('{}-{}', $.n, $.s)
States.Format('a\'b {} \{\}', $.s)
States.Format('{} {}', true, 1.5)
States.Format('{}', $.b)
States.Array($.a, $.n, 'x', 3, true, null)
States.Array()
States.Array(States.ArrayLength($.list), States.Format('{}', $.n))
States.ArrayPartition($.list, 2)
States.ArrayContains($.list, 1)
States.ArrayContains($.list, $.a)
States.ArrayContains(States.Array(1, 2), $.n)
States.ArrayRange(0, $.n, 1)
States.ArrayRange(5, 1, -2)
States.ArrayGetItem(States.Array('x', $.n), 1)
States.ArrayLength($.list)
States.ArrayUnique($.list)
States.Base64Encode($.s)
States.Base64Decode('YWJj')
States.Hash($.s, 'SHA-256')
States.Hash('x', 'MD5')
States.JsonMerge($.b, $, false)
States.JsonToString($.b)
States.StringToJson('{"k": [1, null]}')
States.MathAdd($.n, 2)
States.MathAdd(-1, $.n)
States.StringSplit('a,b', ',')
""".strip().splitlines()

_TESTS = (
    *(("IsPresent", True), ("IsPresent", False), ("IsNull", True), ("IsNumeric", True)),
    *(("IsString", True), ("IsBoolean", True), ("IsTimestamp", True)),
)
# Of a value of another type AWS says that it is not so, JavaScript this or that.
_TYPED_TESTS = {
    "IsNumeric": (
        *(("NumericEquals", 1), ("NumericGreaterThan", 1), ("NumericLessThanEquals", 2)),
        *(("NumericEqualsPath", "$.n"), ("NumericLessThanPath", "$.n")),
    ),
    "IsString": (
        *(("StringEquals", "x"), ("StringLessThan", "m"), ("StringMatches", "a*")),
        *(("StringMatches", "a\\*b"), ("StringMatches", "*,*"), ("StringEqualsPath", "$.s")),
        ("StringGreaterThanEqualsPath", "$.s"),
    ),
    "IsBoolean": (("BooleanEquals", True), ("BooleanEquals", False)),
    "IsTimestamp": (
        *(
            ("TimestampEquals", "2030-01-01T00:00:00Z"),
            ("TimestampLessThan", "2031-01-01T00:00:00Z"),
        ),
        ("TimestampGreaterThanEquals", "2030-01-01T00:00:00+01:00"),
    ),
}


@dataclass
class Case:
    """``errors`` of a Task by its state: a name, or None where it works, for each call; the last
    one for all that follow."""

    definition: Json
    input: Json
    errors: dict[str, list[str | None]] = field(default_factory=dict)


def case_of(seed: int) -> Case:
    """The case of ``seed``."""
    rng = Random(seed)
    case = Case({}, _input(rng))
    case.definition = _Maker(rng, case.errors).machine(depth=2, alone=True)
    return case


def _input(rng: Random) -> Json:
    inner = {"c": rng.choice(_LEAVES), "list": _list(rng, 3)}
    text = rng.choice(("x", "a,b", "a*b", "", "[1]"))
    return {
        "a": _value(rng, 2),
        "b": inner,
        "n": rng.randint(0, 4),
        "list": _list(rng, 4),
        "s": text,
    }


def _list(rng: Random, longest: int) -> list[Any]:
    return [_value(rng, 1) for _ in range(rng.randint(0, longest))]


def _value(rng: Random, depth: int) -> Any:
    kind = rng.random()
    if depth and kind < 0.25:
        return [_value(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    if depth and kind < 0.6:
        return {name: _value(rng, depth - 1) for name in rng.sample(_NAMES, rng.randint(0, 3))}
    return rng.choice(_LEAVES)


class _Maker:
    """Makes machines whose states have names of their own throughout."""

    def __init__(self, rng: Random, errors: dict[str, list[str | None]]) -> None:
        self._rng = rng
        self._errors = errors
        self._count = 0

    def machine(self, depth: int, *, alone: bool) -> Json:
        """States in a row. A Task of a machine that is not ``alone`` ends each time in the same
        way: who calls first is not told."""
        first = self._count
        self._count += self._rng.randint(1, 3)
        names = [f"S{number}" for number in range(first, self._count)]
        pairs = zip(names, [*names[1:], None], strict=True)
        states = {name: self._state(name, after, depth, alone) for name, after in pairs}
        return {"StartAt": names[0], "States": states}

    def _state(self, name: str, after: str | None, depth: int, alone: bool) -> Json:
        kinds = ["Pass"] * 3 + ["Task"] * 3 + (["Map", "Map", "Parallel"] if depth else [])
        kinds += ["Choice"] * 3 if after else ["Succeed", "Fail", "Pass"]
        kind = self._rng.choice(kinds)
        state: Json = {"Type": kind}
        if kind == "Fail":
            paths = {"ErrorPath": "$.s", "CausePath": "$.s"}
            return state | self._rng.choice(({"Error": "E.One", "Cause": "so"}, paths))
        self._sometimes(0.1, state, "InputPath", (*_PATHS, None))
        self._sometimes(0.1, state, "OutputPath", (*_PATHS, None))
        if kind == "Succeed":
            return state
        if kind == "Choice":
            rules = [self._rule(1) | {"Next": after} for _ in range(self._rng.randint(1, 3))]
            self._sometimes(0.8, state, "Default", (after,))
            return state | {"Choices": rules}
        state |= {"Next": after} if after else {"End": True}
        self._sometimes(0.8, state, "ResultPath", _RESULTS)
        self._sometimes(0.5, state, "Parameters", (self._template(),))
        if kind == "Pass":
            self._sometimes(0.3, state, "Result", (_value(self._rng, 2) or "x",))
            return state
        return state | self._policies(after) | self._work(state, kind, name, depth, alone)

    def _work(self, state: Json, kind: str, name: str, depth: int, alone: bool) -> Json:
        self._sometimes(0.3, state, "ResultSelector", ({"whole.$": "$", "k": 1}, {"x.$": "$.saw"}))
        if kind == "Task":
            ends = [self._rng.choice((None, None, *_ERRORS)) for _ in range(3 if alone else 1)]
            self._errors[name] = ends
            return {"Resource": f"arn:aws:lambda:us-east-1:123456789012:function:{name}"}
        if kind == "Parallel":
            # Two branches that fail race, and either answer is right.
            other = {"StartAt": f"{name}b", "States": {f"{name}b": {"Type": "Pass", "End": True}}}
            branches = [self.machine(depth - 1, alone=False), other]
            return {"Branches": branches[: self._rng.randint(1, 2)]}
        old = self._rng.random() < 0.5
        state.pop("Parameters", None)
        self._sometimes(0.8, state, "ItemsPath", ("$.list", "$.list", "$.b.list"))
        given = self._template() | {"v.$": "$$.Map.Item.Value", "i.$": "$$.Map.Item.Index"}
        self._sometimes(0.5, state, "Parameters" if old else "ItemSelector", (given,))
        inner = self.machine(depth - 1, alone=False)
        return {"Iterator" if old else "ItemProcessor": inner, "MaxConcurrency": 1}

    def _policies(self, after: str | None) -> Json:
        found: Json = {}
        retrier = {"ErrorEquals": self._rng.choice(_MATCHERS), "IntervalSeconds": 1}
        self._sometimes(
            0.4, found, "Retry", ([retrier | {"MaxAttempts": self._rng.randint(0, 2)}],)
        )
        if after is not None and self._rng.random() < 0.5:
            catcher = {"ErrorEquals": self._rng.choice(_MATCHERS), "Next": after}
            self._sometimes(0.8, catcher, "ResultPath", ("$.e", "$.e", "$.b.e", None))
            found["Catch"] = [catcher]
        return found

    def _rule(self, depth: int) -> Json:
        kind = self._rng.random()
        if depth and kind < 0.15:
            return {"Not": self._rule(0)}
        if depth and kind < 0.3:
            both = [self._rule(0) for _ in range(self._rng.randint(1, 2))]
            return {self._rng.choice(("And", "Or")): both}
        variable = {"Variable": self._rng.choice(_PLACES)}
        if self._rng.random() < 0.4:
            return variable | dict([self._rng.choice(_TESTS)])
        kind, tests = self._rng.choice(tuple(_TYPED_TESTS.items()))
        typed = dict([self._rng.choice(tests)])
        return {"And": [variable | {kind: True}, variable | typed]}

    def _template(self) -> Json:
        found: Json = {"fixed": [1, {"k": "v"}], "list.$": "$.list", "n.$": "$.n", "s.$": "$.s"}
        for name in self._rng.sample("axyz", self._rng.randint(0, 3)):
            several = _SEVERAL if self._rng.random() < 0.3 else _PATHS
            found[f"{name}.$"] = self._rng.choice(_CALLS if self._rng.random() < 0.4 else several)
        if self._rng.random() < 0.2:
            found["b"] = {"c.$": "$.n", "list": [{"x.$": "$.s"}]}
        return found

    def _sometimes(self, share: float, state: Json, name: str, values: tuple[Any, ...]) -> None:
        chosen = self._rng.choice(values)
        if self._rng.random() < share:
            state[name] = chosen
