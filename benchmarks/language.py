"""What the language costs without a control plane: reading definitions and stepping them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from random import Random
from typing import Any

from benchmarks.figure import Figure, median
from benchmarks.machines import chain, passes
from benchmarks.runs import now
from dcf import asl
from dcf.asl.jsonata.engine import evaluate
from dcf.asl.jsonata.program import read_program
from dcf.asl.scope import Scope

_SIZES = (10, 100, 1_000, 10_000)
_MEGABYTE = 1_000_000
_VALUE = {"order": {"id": "o-1", "total": 41.5}, "items": [1, 2, 3]}


def language(*, repeats: int) -> list[Figure]:
    """Rates of the pure interpreter, and how its costs grow from 10 to 10,000."""
    return [
        *_rates(repeats),
        *_expressions(repeats),
        *_definitions(repeats),
        *_growth("states", _run_chain, repeats),
        *_growth("Map items", _run_map, repeats),
    ]


def _rates(repeats: int) -> list[Figure]:
    text = json.dumps(_VALUE)
    codec = _per_second(lambda: [json.loads(json.dumps(json.loads(text))) for _ in range(1_000)])
    pass_ = asl.parse(passes(1_000))
    jsonpath = asl.parse(
        chain(1_000, Type="Pass", Parameters={"total.$": "$.order.total"}, ResultPath="$.seen")
    )
    query = {"total": "{% $states.input.order.total + 1 %}"}
    jsonata = asl.parse({**chain(200, Type="Pass", Assign=query), "QueryLanguage": "JSONata"})
    rates = [
        ("Pass transitions, interpreter", pass_, 1_000),
        ("Pass with Parameters and ResultPath", jsonpath, 1_000),
        ("JSONata Pass with Assign", jsonata, 200),
    ]
    figures = [Figure("JSON read, written and read", codec * 1_000, "/s", note="to compare with")]
    for name, machine, states in rates:
        rate = median([_per_second(lambda m=machine: _run(m, _VALUE)) for _ in range(repeats)])
        figures.append(Figure(name, rate * states, "/s"))
    return figures


def _expressions(repeats: int) -> list[Figure]:
    """What JSONata takes for one expression: in this process where it is tame, and by the way to
    the other one and back."""
    items = [{"i": number, "name": f"n{number}", "price": number * 1.5} for number in range(1_000)]
    large = {"items": items, **{f"k{number}": "x" * 80 for number in range(1_100)}}
    figures = []
    for name, text, value in (
        ("a sum", "$states.input.order.total + 1", _VALUE),
        ("a text", "$states.input.order.id & ': ' & $string($states.input.order.total)", _VALUE),
        ("an object", "{'id': $states.input.order.id, 'all': $sum($states.input.items)}", _VALUE),
        ("a filter of 1,000 items", "$states.input.items[i > 990].name", large),
        ("a map of 1,000 items", "$states.input.items.(price * 2)", large),
        ("$merge with 130 KB", "$merge([$states.input, {'id': 1}])", large),
    ):
        here = read_program(text)
        scope = Scope(value, {}, {})
        microseconds = {}
        for way, program in (("here", here), ("there", dataclasses.replace(here, tame_size=0))):
            evaluate(program, scope, {})
            times = 2_000 if value is _VALUE else 20
            rates = [
                _per_second(
                    lambda p=program, s=scope, t=times: [evaluate(p, s, {}) for _ in range(t)]
                )
                for _ in range(repeats)
            ]
            microseconds[way] = 1e6 / median(rates) / times
        ratio = (
            f"{microseconds['here'] / microseconds['there']:.2f} times that of the other process"
        )
        figures.append(Figure(f"JSONata, {name}", microseconds["here"], "us", note=ratio))
    return figures


def _definitions(repeats: int) -> list[Figure]:
    """A definition of 1 MB: its text read with places, validated, parsed."""
    state = {"Type": "Pass", "Parameters": {"a.$": "$.order.id", "b": "x" * 60}}
    one = len(json.dumps(chain(100, **state))) / 100
    text = json.dumps(chain(int(_MEGABYTE / one), **state))

    def read() -> None:
        value, problems = asl.read_json(text)
        asl.place([*problems, *asl.validate(value)], text)
        asl.parse(value)

    seconds = median([1 / _per_second(read) for _ in range(repeats)])
    return [Figure(f"read, validate and parse {len(text) / 1e6:.1f} MB", seconds, "s")]


def _growth(what: str, cost: Callable[[int], float], repeats: int) -> list[Figure]:
    """Microseconds for each one of n; the last note says how the largest compares with 100."""
    each = {size: median([cost(size) for _ in range(repeats)]) / size * 1e6 for size in _SIZES}
    ratio = each[_SIZES[-1]] / each[100]
    return [
        Figure(
            f"{size:,} {what}, each",
            value,
            "us",
            note=f"{ratio:.2f} times that of 100" if size == _SIZES[-1] else "",
        )
        for size, value in each.items()
    ]


def _run_chain(size: int) -> float:
    definition = passes(size)
    started = now()
    machine = asl.parse(definition)
    _run(machine, _VALUE)
    return now() - started


def _run_map(size: int) -> float:
    inner = {"StartAt": "One", "States": {"One": {"Type": "Pass", "End": True}}}
    state = {"Type": "Map", "ItemProcessor": inner, "End": True}
    machine = asl.parse({"StartAt": "All", "States": {"All": state}})
    items = list(range(size))
    started = now()
    _run(machine, items)
    return now() - started


def _run(machine: asl.StateMachine, value: Any) -> None:
    end = asl.interpret(
        machine,
        value,
        call_task=lambda call: asl.TaskSucceeded(call.arguments),
        clock=asl.VirtualClock(0.0),
        rng=Random(1),
    )
    if end.status != "SUCCEEDED":
        raise RuntimeError(f"the machine of a benchmark failed: {end.error}: {end.cause}")


def _per_second(act: Callable[[], object]) -> float:
    started = now()
    act()
    return 1 / (now() - started)
