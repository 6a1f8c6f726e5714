"""Platforms and servers for the tests, in this process, on a real Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from integration.tool_answers import ToolAnswers

from control_plane import RedisBackend
from dcf.mcp import Platform, PlatformConfig, load_catalogue
from dcf.mcp.calling import call
from dcf.memory import Source


class Desk(ToolAnswers):
    """Calls tools without a wire."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        self.tokens: dict[str, str] = {}

    async def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The answer of a tool."""
        answer = await call(load_catalogue().tools()[name], self.platform, arguments)
        if answer.get("companion_token"):
            self.tokens[answer["companion_id"]] = answer["companion_token"]
        return answer

    async def receive(self, companion_id: str, wait_s: float = 0.0) -> dict[str, Any]:
        """What a companion of session s1 gets that was made here."""
        return await self.good(
            "receive_task",
            session_id="s1",
            companion_id=companion_id,
            companion_token=self.tokens[companion_id],
            wait_s=wait_s,
        )


@asynccontextmanager
async def desk_on(
    url: str,
    folder: Path,
    *,
    generated: Path | None = None,
    env: Mapping[str, str] | None = None,
    home: Path | None = None,
    **config: Any,
) -> AsyncIterator[Desk]:
    """A platform of its own, with its own connections, as each server process has one."""
    backend = RedisBackend.from_url(url)
    platform = Platform(
        backend,
        PlatformConfig(
            home=home or folder,
            generated=generated or folder / "generated",
            skills_src=folder / "skills_src",
            workspace=folder / "workspace",
            workflows=folder / "workflows",
            runs=folder / "runs",
            memory=Source(folder / "memory.db"),
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
