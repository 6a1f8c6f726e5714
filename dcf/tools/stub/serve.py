"""Running the stub as a process."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from dcf.tools.serving import check_exposure, is_loopback, serve_app
from dcf.tools.stub.app import create_stub_app
from dcf.tools.stub.place import Place


def print_ready(line: Mapping[str, Any]) -> None:
    """One line of JSON on stdout: what whoever started the process waits for."""
    print(json.dumps(line), flush=True)


async def serve(
    place: Place,
    *,
    seed: int | None,
    token: str | None,
    always_ask: bool = False,
    on_ready: Callable[[Mapping[str, Any]], None] = print_ready,
) -> None:
    """Serve until SIGTERM or SIGINT; open requests are cut off then.

    ``on_ready`` gets ``{"event": "ready", "url", "port"}``. On loopback the token is asked for only
    with ``always_ask``. Raises ``CannotServe`` and ``InvalidDocument``.
    """
    host = place.host
    check_exposure(host, token)
    asked = token if always_ask or not is_loopback(host) else None
    app = create_stub_app(place.config, seed=seed, token=asked, mcp_path=place.path)

    def ready(url: str, port: int) -> None:
        on_ready({"event": "ready", "url": url, "port": port})

    stop = app.state.desk.stop
    await serve_app(app, host, place.port, grace_s=0, on_ready=ready, on_stop=stop)
