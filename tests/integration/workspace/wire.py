"""The tools over HTTP, called by the official client, on a real Redis."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from integration.tool_answers import ToolAnswers
from mcp import Client

from control_plane import RedisBackend
from dcf.mcp import Platform, PlatformConfig
from dcf.mcp.http_app import create_app
from dcf.memory import Source
from dcf.tools.serving import Guard
from dcf.tools.stub.in_process import served


class Wire(ToolAnswers):
    """A client of a server; ``platform`` is behind it, ``folder`` has its folders."""

    def __init__(self, client: Client, platform: Platform, folder: Path) -> None:
        self._client = client
        self.platform = platform
        self.folder = folder

    async def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The answer of a tool, the same structured and as text."""
        result = await self._client.call_tool(name, arguments)
        answer = result.structured_content
        assert isinstance(answer, dict)
        assert json.loads(result.content[0].text) == answer  # type: ignore[union-attr]
        assert result.is_error is (answer["error"] is not None)
        return answer


@asynccontextmanager
async def wire(
    url: str, folder: Path, *, skills_src: Path | None = None, **config: Any
) -> AsyncIterator[Wire]:
    """A server on a free port, and a client of it."""
    backend = RedisBackend.from_url(url)
    platform = Platform(
        backend,
        PlatformConfig(
            home=folder,
            generated=folder / "generated",
            skills_src=skills_src or folder / "skills_src",
            workspace=folder / "workspace",
            workflows=folder / "workflows",
            runs=folder / "runs",
            memory=Source(folder / "memory.db"),
            **config,
        ),
    )
    try:
        async with (
            served(create_app(platform, Guard())) as address,
            Client(f"{address}/mcp") as client,
        ):
            yield Wire(client, platform, folder)
    finally:
        await platform.close()
        await backend.close()
