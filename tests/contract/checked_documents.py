"""Every document that a test leaves behind fits its JSON Schema."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema_rs import Draft202012Validator

from control_plane.documents import schema


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(schema(name))


def schema_of(key: str) -> str | None:
    """The name of the schema for what ``key`` holds, or None for keys that are no documents."""
    if key.startswith(("cp:agent:", "cp:{agent}:")):
        return None if key.endswith(":history") else "agent"
    plane, _, rest = key.split(":", 2) if key.count(":") > 1 else (key, "", "")
    member = rest.partition(":")[2]
    if plane == "cp" and member == "meta":
        return "meta"
    if plane == "cp" and member.startswith("state:"):
        return "state"
    if plane == "cp" and member == "history" and not key.startswith(("cp:sess", "cp:conductor")):
        return "event"
    if plane == "dp" and member.startswith("output:"):
        return "output"
    return "finalize" if plane == "dp" and member == "audit:finalize" else None


def check_documents(dump: dict[str, Any]) -> int:
    """How many documents ``dump`` has; fails with every violation in them."""
    checked, problems = 0, []
    for key, document in dump.items():
        name = schema_of(key)
        if name is None:
            continue
        for one in _events(document) if name == "event" else [document]:
            checked += 1
            for error in _validator(name).iter_errors(one):
                problems.append(f"{key} {error.instance_path}: {error.message}")
    assert not problems, "\n".join(problems)
    return checked


def _events(entries: list[list[str]]) -> list[Any]:
    named = (dict(zip(fields[::2], fields[1::2], strict=True)) for fields in entries)
    return [json.loads(fields["event"]) for fields in named]
