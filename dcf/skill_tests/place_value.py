"""Putting a value at a path of the arguments."""

from __future__ import annotations

from typing import Any

from dcf.skill_tests.sample_value import Sampler
from dcf.tools.stub import ArgumentPath


def placed(arguments: Any, path: ArgumentPath, value: Any, schema: Any, sampler: Sampler) -> Any:
    """``arguments`` with ``value`` at ``path``; what is missing on the way is made by ``schema``.

    ``[*]`` is the first element. Nothing given is changed.
    """
    if not path.steps:
        return value
    step, rest = path.steps[0], ArgumentPath(path.steps[1:])
    schema = sampler.resolved(schema)
    if isinstance(step, str):
        members = schema.get("properties")
        inner = members.get(step, {}) if isinstance(members, dict) else {}
        here = dict(arguments) if isinstance(arguments, dict) else {}
        here[step] = placed(
            _begun(here.get(step), rest, inner, sampler), rest, value, inner, sampler
        )
        return here
    index = step or 0
    inner = schema.get("items", {})
    items = list(arguments) if isinstance(arguments, list) else []
    while len(items) <= index:
        items.append(sampler.value(inner))
    items[index] = placed(_begun(items[index], rest, inner, sampler), rest, value, inner, sampler)
    return items


def _begun(value: Any, rest: ArgumentPath, schema: Any, sampler: Sampler) -> Any:
    """What the rest of the path goes into: the value that is there, or a new one."""
    return sampler.value(schema) if value is None and rest.steps else value
