"""One call as the gate sees it, and the digest by which it is approved and remembered."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dcf.tools.result import ToolDescription


@dataclass(frozen=True, slots=True)
class Call:
    """A call that somebody wants to make. ``live`` is the tool as its server lists it now, where
    that is known: only then can a pinned schema be compared. ``gone`` says that the server was
    asked and has no such tool."""

    server_id: str
    tool_name: str
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)
    live: ToolDescription | None = field(default=None, hash=False)
    gone: bool = False

    @property
    def tool(self) -> str:
        """``server:tool``."""
        return f"{self.server_id}:{self.tool_name}"

    @property
    def digest(self) -> str:
        return call_digest(self.server_id, self.tool_name, self.arguments)


def call_digest(server_id: str, tool_name: str, arguments: Mapping[str, Any]) -> str:
    """``sha256:…`` of the JSON text of ``[server, tool, arguments]`` with sorted keys, in ASCII."""
    call = [server_id, tool_name, arguments]
    text = json.dumps(call, sort_keys=True, separators=(",", ":"), default=repr)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
