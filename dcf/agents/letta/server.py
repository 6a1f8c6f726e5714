"""Where a Letta server is, and how it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dcf.agents.letta.errors import LettaSettings
from dcf.problem import Problem

TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class LettaServer:
    """A server at ``url`` (``http://127.0.0.1:8283``), with its password or API key as ``token``.

    ``model`` and ``embedding`` are the server's handles (``openai/gpt-5-mini``) for agents that
    name none. Without ``model`` it is the only one that the server has; without ``embedding``
    archives are searched by words. ``timeout_s`` is for one request, a turn of an agent not
    included: that lasts as long as it is allowed to.
    """

    url: str
    token: str | None = field(default=None, repr=False)
    model: str | None = None
    embedding: str | None = None
    timeout_s: float = TIMEOUT_S

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise LettaSettings(
                [
                    Problem(
                        "letta_url",
                        f"the address of the Letta server is {self.url!r}, which is no http URL",
                        hint="write it as http://127.0.0.1:8283, in DCF_LETTA_URL or --letta",
                    )
                ]
            )

    @classmethod
    def of(cls, environment: Mapping[str, str], url: str | None = None) -> LettaServer:
        """The server that ``DCF_LETTA_URL``, ``DCF_LETTA_TOKEN``, ``DCF_LETTA_MODEL`` and
        ``DCF_LETTA_EMBEDDING`` name; ``url`` takes the place of the first. Raises LettaSettings."""
        found = url or environment.get("DCF_LETTA_URL") or ""
        if not found:
            raise LettaSettings(
                [
                    Problem(
                        "letta_url",
                        "no address of a Letta server is set",
                        hint="set DCF_LETTA_URL, http://127.0.0.1:8283 say",
                    )
                ]
            )
        return cls(
            found,
            environment.get("DCF_LETTA_TOKEN") or None,
            environment.get("DCF_LETTA_MODEL") or None,
            environment.get("DCF_LETTA_EMBEDDING") or None,
        )
