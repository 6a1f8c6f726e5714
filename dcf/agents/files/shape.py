"""What in an agent file has not the shape that its members must have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any, Literal

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from dcf.agents.files.text import MOST_PROBLEMS, escape
from dcf.problem import Problem

MOST_THINGS = 100_000
"""Agents, blocks, tools and messages of a file, together."""
_SCHEMA = "agent_file.schema.json"
_LISTS = ("agents", "blocks", "tools", "core_memory", "memory_blocks", "messages")


def shape_problems(value: Any, version: Literal[1, 2]) -> list[Problem]:
    """Each member that DCF reads and that has another type than it should have."""
    things = _things(value) + sum(_things(agent) for agent in _list(value.get("agents")))
    if things > MOST_THINGS:
        message = f"the file has {things:,} agents, blocks, tools and messages together"
        hint = f"at most {MOST_THINGS:,} are read: export fewer agents at once"
        return [Problem("AGENT_FILE_SIZE", message, "", hint)]
    errors = _validator(version).iter_errors(value)
    return list(
        islice((problem for error in errors for problem in _in_words(error)), MOST_PROBLEMS)
    )


def _things(holder: Any) -> int:
    return sum(len(_list(holder.get(name))) for name in _LISTS) if isinstance(holder, dict) else 0


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


@cache
def _validator(version: Literal[1, 2]) -> Draft202012Validator:
    text = (files("dcf.agents.files") / "schemas" / _SCHEMA).read_text(encoding="utf-8")
    schema = json.loads(text)
    return Draft202012Validator({"$defs": schema["$defs"], "$ref": f"#/$defs/version_{version}"})


def _in_words(error: ValidationError) -> Iterator[Problem]:
    pointer = "".join(f"/{escape(step)}" for step in error.absolute_path)
    name = pointer or "the file"
    rule: Any = error.validator_value
    match error.validator:
        case "required":
            # Reported once for each: the message begins with the name of the member.
            missing = next(one for one in rule if error.message.startswith(repr(one)))
            message = f"{name} has no member {missing!r}"
            yield Problem("AGENT_FILE_MISSING", message, pointer)
        case "type":
            kinds = " or ".join(rule) if isinstance(rule, list) else rule
            message = f"{name} must be of type {kinds}"
            yield Problem("AGENT_FILE_TYPE", message, pointer)
        case "pattern":
            yield Problem("AGENT_FILE_EMPTY", f"{name} is empty", pointer)
        case "enum":
            known = ", ".join(map(str, rule))
            message = f"{name} is {_shown(error.instance)}, not one of {known}"
            yield Problem("AGENT_FILE_VALUE", message, pointer)
        case _:
            message = f"{name} cannot be {_shown(error.instance)}"
            yield Problem("AGENT_FILE_VALUE", message, pointer)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"
