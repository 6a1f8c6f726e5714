"""Platforms and servers for the tests, in this process, on a real Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from control_plane import RedisBackend
from dcf.mcp import Platform, PlatformConfig, load_catalogue
from dcf.mcp.calling import call


class Desk:
    """Calls tools without a wire."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform

    async def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The answer of a tool."""
        return await call(load_catalogue().tools()[name], self.platform, arguments)

    async def good(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The answer of a tool, which has to work."""
        answer = await self.call(name, **arguments)
        assert answer["error"] is None, answer
        return answer

    async def refused(self, name: str, **arguments: Any) -> str:
        """The code of the error of a tool, which has to have one."""
        answer = await self.call(name, **arguments)
        assert answer["error"] is not None, answer
        return str(answer["error"]).partition(":")[0]


@asynccontextmanager
async def desk_on(
    url: str,
    folder: Path,
    *,
    generated: Path | None = None,
    env: Mapping[str, str] | None = None,
    **config: Any,
) -> AsyncIterator[Desk]:
    """A platform of its own, with its own connections, as each server process has one."""
    backend = RedisBackend.from_url(url)
    platform = Platform(
        backend,
        PlatformConfig(
            generated=generated or folder / "generated",
            skills_src=folder / "skills_src",
            workspace=folder / "workspace",
            workflows=folder / "workflows",
            runs=folder / "runs",
            env=env or {},
            **config,
        ),
    )
    (folder / "workspace").mkdir(exist_ok=True)
    try:
        yield Desk(platform)
    finally:
        await platform.close()
        await backend.close()
