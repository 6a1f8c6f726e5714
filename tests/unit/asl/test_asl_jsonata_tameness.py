"""What is evaluated in this process ends soon, and as it would in the other one."""

from __future__ import annotations

import dataclasses
from random import Random
from typing import Any

import pytest
from campaigns import campaign
from jsonata_maker import Maker
from jsonata_scope import jsonata
from test_asl_hostile import ANSWERED, JSONATA

from dcf.asl.errors import ExpressionError
from dcf.asl.jsonata import engine, evaluator, tameness
from dcf.asl.jsonata.engine import Failed, Undefined
from dcf.asl.jsonata.program import Program, read_program
from dcf.asl.jsonata.syntax import parse_jsonata
from dcf.asl.payload import JSON, compact
from dcf.asl.scope import Scope

DOUBLED = "{'l': $, 'r': $}"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the other process was asked."""
    requests: list[str] = []
    ask = engine._engine.ask

    def noted(request: str) -> bytes:
        requests.append(request)
        return ask(request)

    monkeypatch.setattr(engine._engine, "ask", noted)
    return requests


@pytest.mark.parametrize(
    "text",
    [
        "$states.input.total + 1",
        "-$states.input.total * 2 % 3",
        "$states.input.name & ' ' & $string($states.input.id)",
        "$states.input.status = 'open' and $count($states.input.items) > 3",
        "$exists($states.input.x) ? $states.input.x : 'default'",
        "$states.input.items[price > 2 and name in ['a', 'b']].name",
        "$states.input.items[id = $states.input.id][0]",
        "$sum($states.input.items.(price * qty))",
        "$states.input.items^(>price).{'id': id, 'name': $uppercase(name)}",
        "$states.input.items{name: $sum(price)}",
        "$merge([$states.input, {'id': 1}])",
        "($a := $states.input.x; $b := $a & 'x'; {'a': $a, 'b': $b})",
        "$join($states.input.items.name, ', ')",
        "$now() & $toMillis('2020-01-01')",
    ],
)
def test_common_expressions_are_tame(text: str) -> None:
    assert read_program(text).tame_size >= 32_000


@pytest.mark.parametrize("text", [*JSONATA.values(), *ANSWERED.values()])
def test_hostile_expressions_are_not(text: str) -> None:
    assert read_program(text).tame_size == 0


@pytest.mark.parametrize(
    "text",
    [
        *("$states.input.*", "$states.input.**", "[1..2]", "$states.input.a.%.b", "$f()"),
        *("$states.input@$a.$a", "$states.input#$i.$i", "'a' ~> $length()", "$states ~> |$|{}|"),
        *("$map([1], function($x) { $x })", "$contains('a', /a/)", "$sum", "$states.a.and.b"),
        *("$keys($states)", "$distinct($states)", "$replace('a', 'b', 'c')", "$pad('a', 5)"),
        *("$string($states, true)", "$fromMillis(1, '[Y]')", "$join($states.a, $states.b)"),
        # Each step, variable or block doubles what there is.
        *(".".join(["$states.input", *[DOUBLED] * 40]), "$states.input" + ".[$, $]" * 40),
        "(" + "$a := {'l': $a, 'r': $a};" * 40 + "$a)",
        "(" + "$a := [[$a]];" * 20_000 + "$a)",
        "$states.input" + f"[{DOUBLED}" * 30 + "]" * 30,
        "$states.input" + f"^({DOUBLED}" * 30 + ")" * 30,
        "$states.input" + ".$append($, $)" * 40,
        "[" + ", ".join(["$a := {'l': $a, 'r': $a}"] * 40) + "]",
        "($a := $b := {'l': $a, 'r': $a}; $a)",
        "$sum($a := 1)",
        "$a := 1",
        "(" * 60 + "1" + ")" * 60,
    ],
    ids=lambda text: text[:40],
)
def test_what_may_be_much_is_not(text: str) -> None:
    assert read_program(text).tame_size == 0


def test_what_is_read_for_each_item_counts_as_often() -> None:
    once = read_program("$states.input.items.{'x': y}").tame_size
    each = read_program("$states.input.items.{'x': $states.input.y}").tame_size

    assert each < 2_000 < once


def test_a_variable_that_hides_a_function_is_read_in_the_other_process(asked: list[str]) -> None:
    assert jsonata("$count([1, 2])") == 2
    assert not asked
    assert jsonata("$sum & 'x'", sum=1) == "1x"
    assert asked


def test_the_other_process_goes_on_where_this_one_does_not(asked: list[str]) -> None:
    items = [{"i": 1}] * 12_000
    program = read_program("$sum($states.input.(i * 2))")
    assert len(compact(items)) < program.tame_size

    assert engine.evaluate(program, Scope(items, {}, {}), {}) == 24_000
    assert len(asked) == 1


def test_the_data_may_be_too_much(asked: list[str]) -> None:
    text = "$states.input.a & 'b'"
    size = read_program(text).tame_size

    for length in (size // 2, size):
        assert jsonata(text, {"a": "x" * length}) == "x" * length + "b"

    assert len(asked) == 1


def test_a_panic_of_the_engine_ends_nothing(
    monkeypatch: pytest.MonkeyPatch, asked: list[str]
) -> None:
    class PanicException(BaseException):
        pass

    def panic(*_: Any, **__: Any) -> str:
        raise PanicException

    monkeypatch.setattr(evaluator, "outcome", panic)

    assert jsonata("1 + 1") == 2
    assert asked


@campaign(shares=20)
def test_both_processes_say_the_same_and_no_value_is_larger_than_foretold(share: int) -> None:
    maker = Maker(Random(share))
    tame = 0
    for _ in range(500):
        data, text = maker.data(), maker.expression()
        try:
            program = read_program(text)
        except ExpressionError:
            continue
        scope = Scope(data, {}, {"v": 7})
        given = compact(program.readable(scope, {}))
        if len(given) <= program.tame_size:
            tame += 1
            here = said(program, scope)
            assert here == said(dataclasses.replace(program, tame_size=0), scope), text
            _, words = parse_jsonata(text)
            assert size(here[1]) <= tameness._largest(words, len(given)), text
    assert tame > 150


@campaign(shares=20)
def test_tame_expressions_end_within_the_limits_on_all_the_data_they_may_have(share: int) -> None:
    """``outcome`` comes back: nothing else would end what hangs here."""
    maker = Maker(Random(1_000 + share))
    tried = 0
    for _ in range(60):
        data, text = maker.data(), maker.expression()
        try:
            program = read_program(text)
        except ExpressionError:
            continue
        if program.tame_size:
            tried += 1
            given = {"states": {"input": grown(data, program.tame_size)}, "v": 7}
            answer = evaluator.outcome(program.source, given, limits=engine._LIMITS_HERE)
            assert len(answer) <= engine._LIMITS_HERE["max_result_size"]
    assert tried > 15


def said(program: Program, scope: Scope) -> tuple[str, JSON]:
    try:
        return "value", engine.evaluate(program, scope, {})
    except Undefined:
        return "undefined", ""
    except Failed as error:
        return str(error), ""


def size(value: JSON) -> int:
    """Characters of its JSON text, a number being one."""
    if isinstance(value, dict):
        return 1 + sum(len(compact(key)) + 2 + size(item) for key, item in value.items())
    if isinstance(value, list):
        return 1 + sum(1 + size(item) for item in value)
    return len(compact(value)) if isinstance(value, str) else 1


def grown(data: dict[str, JSON], most: int) -> dict[str, JSON]:
    """As many items, numbers and texts as ``most`` characters have."""
    larger = {name: data[name] * 1_000 if type(data[name]) is list else data[name] for name in data}
    while len(compact(larger)) > most:
        larger = {
            name: item[: len(item) // 2] if type(item) is list else item
            for name, item in larger.items()
        }
        if all(not item for item in larger.values() if type(item) is list):
            return larger
    return larger
