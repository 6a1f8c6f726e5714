"""Conditions as JSONata: they hold when the procedure says so, and read back."""

from __future__ import annotations

import random
from fnmatch import fnmatchcase
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dcf import asl
from dcf.planner.compiling.expression import Names, condition, wrapped
from dcf.planner.decompiling.jsonata_condition import read_jsonata
from dcf.sop import (
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    Constant,
    Match,
    Membership,
    Name,
    Not,
    Presence,
)

NAMES = Names(perhaps=frozenset({"a", "b", "c", "t", "u"}))
numbers = st.sampled_from(["a", "b", "c.d"]).map(Name)
texts = st.sampled_from(["t", "u", "v.w"]).map(Name)
constants = st.integers(-2, 2).map(Constant)
words = st.sampled_from(["", "ab", "abc", "a*c", "x'y", "10 %"])

leaves = st.one_of(
    st.builds(
        Comparison,
        numbers,
        st.sampled_from(["==", "!=", "<", "<=", ">", ">="]),
        numbers | constants,
    ),
    st.builds(Comparison, texts, st.sampled_from(["==", "!="]), words.map(Constant)),
    st.builds(Presence, numbers | texts),
    st.builds(Membership, texts, st.lists(words.map(Constant), min_size=1, max_size=3).map(tuple)),
    st.builds(Match, texts, st.sampled_from(["*", "a*", "*c", "a*c", "ab", "x'*", "10 %"])),
)


def joined(parts: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.one_of(st.builds(AllOf, several), st.builds(AnyOf, several), st.builds(Not, parts))


conditions = st.recursive(leaves, joined, max_leaves=6)
number = st.none() | st.integers(-2, 2)
word = st.none() | words
worlds = st.fixed_dictionaries(
    {},
    optional={
        "a": number,
        "b": number,
        "c": st.just({}) | number.map(lambda value: {"d": value}),
        "t": word,
        "u": word,
        "v": st.just({}) | word.map(lambda value: {"w": value}),
    },
)


def holds(wanted: Condition, world: dict[str, Any]) -> bool:
    """What the procedure means: a comparison with what is missing is false, but for ``!=``."""
    match wanted:
        case Presence(name):
            return value(name, world) is not None
        case Not(inner):
            return not holds(inner, world)
        case AllOf(parts):
            return all(holds(part, world) for part in parts)
        case AnyOf(parts):
            return any(holds(part, world) for part in parts)
        case Membership(name, values):
            return value(name, world) in [one.value for one in values]
        case Match(name, pattern):
            found = value(name, world)
            return isinstance(found, str) and fnmatchcase(found, pattern)
        case Comparison(left, operator, right):
            one = value(left, world)
            other = value(right, world) if isinstance(right, Name) else right.value
            if operator in ("==", "!="):
                # Two that are null are equal; what is not there equals nothing.
                there = present(left, world) and (
                    not isinstance(right, Name) or present(right, world)
                )
                return (there and one == other) is (operator == "==")
            if one is None or other is None:
                return False
            order = {"<": one < other, "<=": one <= other, ">": one > other, ">=": one >= other}
            return bool(order[operator])


def value(name: Name, world: dict[str, Any]) -> Any:
    found: Any = world
    for part in name.path.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def present(name: Name, world: dict[str, Any]) -> bool:
    found: Any = world
    for part in name.path.split("."):
        if not isinstance(found, dict) or part not in found:
            return False
        found = found[part]
    return True


@settings(max_examples=150, deadline=None)
@given(conditions, worlds)
def test_it_holds_when_the_procedure_says_so(wanted: Condition, world: dict[str, Any]) -> None:
    machine = {
        "QueryLanguage": "JSONata",
        "StartAt": "Take",
        "States": {
            "Take": {"Type": "Pass", "Assign": world or {"none": 0}, "Next": "Ask"},
            "Ask": {
                "Type": "Choice",
                "Choices": [{"Condition": wrapped(condition(wanted, NAMES)), "Next": "Yes"}],
                "Default": "No",
            },
            "Yes": {"Type": "Succeed", "Output": True},
            "No": {"Type": "Succeed", "Output": False},
        },
    }
    clock = asl.VirtualClock()

    def never(_: Any) -> Any:
        raise AssertionError

    end = asl.interpret(asl.parse(machine), {}, call_task=never, clock=clock, rng=random.Random(0))

    assert (end.status, end.output) == ("SUCCEEDED", holds(wanted, world)), end.cause


@settings(max_examples=150, deadline=None)
@given(conditions)
def test_it_reads_back_as_what_it_was(wanted: Condition) -> None:
    """As a text: what is written of what was read is what was written."""
    text = condition(wanted, NAMES)

    assert condition(read_jsonata(text), NAMES) in (text, f"({text})", text[1:-1])
