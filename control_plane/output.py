"""What a state puts out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from control_plane import payload
from control_plane.documents import Failure
from control_plane.payload import JSON, Payload

# Most states have nothing to say for people or accounts.
_NOTHING_MORE = '{"summary":null,"artifacts":[],"metrics":{},"error":null}'


@dataclass(frozen=True, slots=True)
class Output:
    """What a state puts out: ``data`` flows on, the rest is for people and accounts."""

    ok: bool
    data: Payload
    summary: str | None = None
    artifacts: list[JSON] = field(default_factory=list)
    metrics: dict[str, Any] = field(default_factory=dict)
    failure: Failure | None = None

    def to_text(self) -> str:
        """The output document as JSON text. Raises BadDocument for members that are not JSON."""
        ok = "true" if self.ok else "false"
        return f'{{"ok":{ok},"data":{self.data.stored},{self._rest()[1:]}'

    def _rest(self) -> str:
        if self.summary is None and not (self.artifacts or self.metrics or self.failure):
            return _NOTHING_MORE
        error = self.failure and {
            "code": self.failure.error or "",
            "message": self.failure.cause or "",
        }
        return payload.to_text(
            {
                "summary": self.summary,
                "artifacts": self.artifacts,
                "metrics": self.metrics,
                "error": error,
            }
        )
