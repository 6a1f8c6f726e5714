"""Results that are no objects, which servers built with the Python SDK wrap as ``{"result": x}``.

`Toolbox` hands out ``x``, so that is what is recorded, with the schema of ``x``; a client of the
proxy gets the object that the tool's schema promises.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def wraps(output_schema: Mapping[str, Any] | None) -> bool:
    """Whether results of this schema were wrapped."""
    properties = (output_schema or {}).get("properties")
    return isinstance(properties, Mapping) and set(properties) == {"result"}


def inner_schema(output_schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of what is inside, with the definitions that it refers to."""
    inner = output_schema["properties"]["result"]
    shared = {
        name: output_schema[name] for name in ("$defs", "definitions") if name in output_schema
    }
    return {**shared, **inner} if isinstance(inner, Mapping) else dict(shared)


def wrapped(data: Any) -> dict[str, Any]:
    """``data`` as a wrapping tool promises it."""
    if isinstance(data, dict) and set(data) == {"result"}:
        return data
    return {"result": data}
