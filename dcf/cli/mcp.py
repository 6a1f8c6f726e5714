"""``dcf mcp``."""

from __future__ import annotations

import os
from pathlib import Path

from dcf.cli.answer import Answer
from dcf.cli.exits import OK
from dcf.cli.log_lines import log_to_stderr
from dcf.cli.platform import open_platform, role_of
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf_agents.installation import installed_version


async def serve_client(
    role: str | None, root: Path | None, pool: str, settings: Settings
) -> Answer:
    """Serve the client at the other end of standard input and output."""
    from dcf.mcp import WITHOUT_REDIS, serve_stdio

    log_to_stderr(settings.log_level)
    known = role_of(role)
    # Standard output is the protocol's: whatever is to be told goes to stderr.
    screen = Screen(as_json=True)
    alone = known in WITHOUT_REDIS
    opened = open_platform(settings, screen, root=root, pool=pool, alone=alone)
    async with opened as platform:
        left = await serve_stdio(platform, role=known, version=installed_version())
    if not left:
        # Nothing is open but the thread that waits for input.
        os._exit(OK)
    # Whatever is on standard output is the client's.
    return Answer()
