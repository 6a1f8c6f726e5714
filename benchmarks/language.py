"""What the language costs without a control plane: reading definitions and stepping them."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from benchmarks.figure import Figure, median
from benchmarks.machines import chain, passes
from benchmarks.runs import now
from dcf import asl

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
    """What JSONata takes for one expression, with the way to its process and back."""
    items = [{"i": number, "name": f"n{number}", "price": number * 1.5} for number in range(1_000)]
    large = {"items": items, **{f"k{number}": "x" * 80 for number in range(1_100)}}
    figures = []
    for name, text, value in (
        ("JSONata, a path", "$states.input.order.id", _VALUE),
        ("JSONata, a sum", "$states.input.order.total + 1", _VALUE),
        ("JSONata, a filter of 1,000 items", "$states.input.items[i > 990].name", large),
        ("JSONata, a map of 1,000 items", "$states.input.items.(price * 2)", large),
        ("JSONata, $merge with 130 KB", "$merge([$states.input, {'id': 1}])", large),
    ):
        state = {"Type": "Pass", "QueryLanguage": "JSONata", "Output": f"{{% {text} %}}"}
        machine = asl.parse({"StartAt": "A", "States": {"A": {**state, "End": True}}})
        _run(machine, value)
        rates = [_per_second(lambda m=machine, v=value: _run(m, v)) for _ in range(repeats)]
        figures.append(Figure(name, 1e6 / median(rates), "us"))
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
