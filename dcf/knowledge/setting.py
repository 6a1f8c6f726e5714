"""Whether there is to be a graph, and where: from the environment to an address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

from control_plane.embedded import Address, Embedded, OnProgress, redact
from dcf.knowledge.errors import GraphOff, SettingUnusable

GraphMode = Literal["on", "demand", "off"]
MODES = ("on", "demand", "off")
_SCHEMES = ("redis://", "rediss://", "unix://")


@dataclass(frozen=True, slots=True)
class GraphSetting:
    """``mode`` is ``on`` (workers write all the time), ``demand`` (runs wait in the outbox until
    somebody asks the graph, and no server is started before that) or ``off`` (nothing waits).
    ``url`` is a FalkorDB of the user's own, None for the embedded server."""

    mode: GraphMode
    url: str | None = field(default=None, repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> GraphSetting:
        """``DCF_GRAPH`` and ``DCF_GRAPH_URL``; with a URL the default is ``on``, since a server
        that runs anyway costs nothing. Raises SettingUnusable."""
        url = env.get("DCF_GRAPH_URL") or None
        mode = (env.get("DCF_GRAPH") or ("on" if url else "demand")).lower()
        if mode not in MODES:
            reason, hint = f"{mode!r} is none of its values", f"one of {', '.join(MODES)}"
            raise SettingUnusable(name="DCF_GRAPH", reason=reason, hint=hint)
        if url is not None and not url.startswith(_SCHEMES):
            reason = f"{redact(url)} is no address of a Redis server"
            hint = "as in redis://:password@127.0.0.1:8379/0"
            raise SettingUnusable(name="DCF_GRAPH_URL", reason=reason, hint=hint)
        return cls(cast("GraphMode", mode), url, dict(env))

    async def address(self, on_progress: OnProgress | None = None) -> Address:
        """Where the graph is; the embedded server is started if need be, and has its data loaded.
        Raises GraphOff, and ServerUnusable when it does not start."""
        if self.mode == "off":
            raise GraphOff
        if self.url is not None:
            return Address(self.url, "configured")
        return await Embedded.from_env(self.env).graph.start(on_progress)
