"""Arguments with which a call meets a certain case, and none that is tried before it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any

from dcf.schema import PatternTooSlow, SchemaUnusable
from dcf.skill_tests.place_value import placed
from dcf.skill_tests.sample_text import sample_texts
from dcf.skill_tests.sample_value import Sampler, Schema
from dcf.tools.stub import (
    DEFAULT_CASE,
    ArgumentPath,
    Case,
    StubTool,
    first_match,
    json_text,
    json_types,
)

_ROUNDS = 200
_FAULTS = 3
"""How often a pattern may take too long: each time costs a tenth of a second."""
_DEEPEST = 3
_WHOLE = ArgumentPath(())
_MEMBER = re.compile(r'"(?P<name>(?:[^"\\]|\\.)+)"\s*:\s*')


@dataclass(frozen=True, slots=True)
class Reached:
    """``arguments`` that reach the case, or the reason why there are none."""

    arguments: dict[str, Any] | None = None
    reason: str = ""


def reach(tool: StubTool, case: Case | None) -> Reached:
    """Arguments that fit the tool's schema and are answered by ``case`` (None: by the default).

    Those that the author gave, or the first found of a few hundred made for the case; always the
    same ones for the same tool.
    """
    if case is not None and case.arguments is not None:
        return _authored(tool, case, case.arguments)
    captured: Counter[str] = Counter()
    faults = 0
    case_id = case.case_id if case else DEFAULT_CASE
    for round_number in range(_ROUNDS):
        rng = Random(f"{tool.key}:{case_id}:{round_number}")
        sampler = Sampler(tool.params_schema, rng, plain=round_number == 0)
        for arguments in _made(tool, case, sampler, rng):
            try:
                answering = _answering(tool, case, arguments)
            except (PatternTooSlow, SchemaUnusable) as error:
                faults += 1
                if faults == _FAULTS:
                    return Reached(reason=_unusable(error))
                continue
            if answering == case_id:
                return Reached(arguments)
            if answering is not None:
                captured[answering] += 1
    return Reached(reason=_why(case, captured))


def _authored(tool: StubTool, case: Case, arguments: dict[str, Any]) -> Reached:
    try:
        error = tool.params.fault(arguments)
        if error is not None:
            return Reached(reason=f"its `arguments` do not fit the tool's params: {error.message}")
        answering = _answering(tool, case, arguments)
    except (PatternTooSlow, SchemaUnusable) as unusable:
        return Reached(reason=_unusable(unusable))
    if answering == case.case_id:
        return Reached(arguments)
    if answering is None:
        return Reached(reason="its `arguments` do not meet its own condition")
    return Reached(reason=f"shadowed by case {answering}, which answers its `arguments`")


def _why(case: Case | None, captured: Counter[str]) -> str:
    if not captured:
        hint = "give the case `arguments`" if case else "every call meets a case"
        return f"no arguments were found that fit the tool's params and its condition: {hint}"
    names = ", ".join(name for name, _count in captured.most_common(3))
    calls = "every call that meets it" if case else "every call"
    return f"shadowed by case {names}: {calls} ({captured.total()} were tried) is answered there"


def _made(
    tool: StubTool, case: Case | None, sampler: Sampler, rng: Random
) -> Iterator[dict[str, Any]]:
    """Arguments that may meet the case."""
    schema = tool.params_schema
    base = sampler.value(schema)
    if not isinstance(base, dict):
        return
    if case is None or case.match.strategy == "always":
        yield base
        return
    match = case.match
    path = match.query if isinstance(match.query, ArgumentPath) else _WHOLE
    if match.query is not None and path is _WHOLE:
        yield base  # a JSONPath that says more than a way: met by chance, or by `arguments`
    elif path.steps:
        place = sampler.resolved(path.schema_in(schema))
        for value in islice(_values(case, place, sampler, rng), 12):
            yield placed(base, path, value, schema, sampler)
    elif match.strategy in ("exact", "jsonpath"):
        if isinstance(match.value, dict):
            yield match.value
    else:
        wanted = json_text(match.value) if not isinstance(match.value, str) else match.value
        found = [wanted] if match.strategy == "contains" else islice(sample_texts(wanted, rng), 6)
        for text in found:
            yield from _holding(base, text, schema, sampler)


def _values(case: Case, place: Schema, sampler: Sampler, rng: Random) -> Iterator[Any]:
    """Values for the place that the case looks at."""
    match = case.match
    if match.strategy in ("exact", "jsonpath"):
        yield match.value
        return
    yield from place.get("enum", ())
    yield sampler.value(place)
    if match.strategy == "contains":
        yield from _containing(match.value, place, sampler)
        return
    for text in sample_texts(str(match.value), rng):
        yield text
        if "string" not in json_types(place):
            yield from _read(text)


def _containing(value: Any, place: Schema, sampler: Sampler) -> Iterator[Any]:
    types = json_types(place)
    if "array" in types:
        items = sampler.value(place)
        items = items if isinstance(items, list) else []
        yield [*items[1:], value]
        yield [value]
        for item in _read(value) if isinstance(value, str) else ():
            yield [item]
        inside = sampler.resolved(place.get("items"))
        if isinstance(made := sampler.value(inside), dict):
            text = value if isinstance(value, str) else json_text(value)
            yield from ([item] for item in _holding(made, text, inside, sampler))
    elif "object" in types:
        made = sampler.value(place)
        if isinstance(made, dict):
            text = value if isinstance(value, str) else json_text(value)
            yield from _holding(made, text, place, sampler)
    else:
        yield value
        if isinstance(value, str):
            yield f"a {value} b"
            yield from _read(value)


def _holding(
    base: dict[str, Any], text: str, schema: Schema, sampler: Sampler
) -> Iterator[dict[str, Any]]:
    """``base`` with the text in it: as members, where it reads like them, or as one string."""
    whole = next(iter(_read(text)), None)
    if isinstance(whole, dict):
        yield {**base, **whole}
    members = _members(text)
    if members:
        yield {**base, **members}
        made: Any = base
        for path, _types in _places(schema, sampler):
            if path.steps[-1] in members:
                made = placed(made, path, members[str(path.steps[-1])], schema, sampler)
        yield made
    for path, types in _places(schema, sampler):
        if "string" in types or not types:
            yield placed(base, path, text, schema, sampler)


def _members(text: str) -> dict[str, Any]:
    """The members that a piece of JSON text shows: ``"a": 1, … "b": "x"``."""
    found: dict[str, Any] = {}
    decoder = json.JSONDecoder()
    for name in _MEMBER.finditer(text):
        try:
            value, _end = decoder.raw_decode(text, name.end())
        except ValueError:
            continue
        found[json.loads(f'"{name["name"]}"', strict=False)] = value
    return found


def _places(
    schema: Schema, sampler: Sampler, depth: int = 0
) -> Iterator[tuple[ArgumentPath, frozenset[str]]]:
    """The declared places of arguments with their types, the first element standing for all."""
    schema = sampler.resolved(schema)
    members = schema.get("properties")
    if not isinstance(members, dict) or not members:
        if depth == 0 and schema.get("additionalProperties") is not False:
            yield ArgumentPath(("text",)), frozenset()
        return
    for name, member in members.items():
        inner = sampler.resolved(member)
        step: tuple[str | int, ...] = (name,)
        yield ArgumentPath(step), json_types(inner)
        if "array" in json_types(inner):
            step, inner = (name, 0), sampler.resolved(inner.get("items"))
            yield ArgumentPath(step), json_types(inner)
        if depth < _DEEPEST and isinstance(inner.get("properties"), dict):
            for below, types in _places(inner, sampler, depth + 1):
                yield ArgumentPath((*step, *below.steps)), types


def _read(text: Any) -> Iterator[Any]:
    """The JSON value that a text writes, if it writes one."""
    try:
        yield json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return


def _answering(tool: StubTool, case: Case | None, arguments: dict[str, Any]) -> str | None:
    """Which case answers; None where the arguments do not fit the tool, or are not meant by
    ``case``. Raises ``PatternTooSlow`` and ``SchemaUnusable``."""
    if not tool.params.fits(arguments) or (case and not case.match.holds(arguments)):
        return None
    found = first_match(tool, arguments)
    return found.case_id if found else DEFAULT_CASE


def _unusable(error: PatternTooSlow | SchemaUnusable) -> str:
    if isinstance(error, SchemaUnusable):
        return f"the tool's params cannot be used: {error}"
    return f"the regular expression {error} takes too long: write no repeats inside repeats"
