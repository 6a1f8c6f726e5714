"""A tool as an agent's model sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


def _no_arguments() -> dict[str, Any]:
    return {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """``name`` has letters, digits, ``_`` and ``-``, at most 64; ``input_schema`` is the JSON
    Schema of the object of its arguments."""

    name: str
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=_no_arguments)
