"""What a loaded skill lets an agent do with one tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Egress = Literal["none", "intranet", "internet"]
Risk = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class Grant:
    """The skill ``skill`` (a manifest id) declares this tool. ``secrets`` are names; ``egress`` and
    ``risk`` are those of the skill; ``commands`` are the programs that it may run;
    ``input_schema`` is the JSON Schema of the arguments. A tool
    that is ``idempotent`` may be called again when it is not known whether a call arrived. A skill
    that is not ``trusted`` was brought by whoever asks: what it says of itself is no permission,
    and stands in ``claims`` where it does not count."""

    server_id: str
    tool_name: str
    skill: str
    input_schema: Mapping[str, Any] = field(default_factory=dict, hash=False)
    egress: Egress = "none"
    secrets: tuple[str, ...] = ()
    risk: Risk = "low"
    idempotent: bool = False
    commands: tuple[str, ...] = ()
    trusted: bool = True
    claims: str = ""
