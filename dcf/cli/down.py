"""``dcf down``."""

from __future__ import annotations

import asyncio

from control_plane.embedded import Embedded
from dcf.cli.answer import Answer
from dcf.cli.background import BackgroundFolder
from dcf.cli.crew import Garrison, name_of
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.stub_server import StubServer


async def bring_down(settings: Settings, screen: Screen) -> Answer:
    """Stop what this home has in the background: what works first, the graph and Redis last."""
    folder = BackgroundFolder(settings.notes, settings.logs)
    stopped = []
    with screen.working("draining workers …"):
        garrisons = (Garrison(folder), Garrison(folder, "companions"))
        for ended in await asyncio.gather(*(garrison.dismiss() for garrison in garrisons)):
            for process, clean in ended:
                how = "drained" if clean else "killed, it did not drain in time"
                stopped.append(f"{process.name} ({name_of(process)}): {how}")
    for stub in await StubServer(settings, folder).stop_all():
        stopped.append(f"stub tools at {stub.details.get('url')}: stopped")
    with screen.working("the graph writes its data …"):
        if await Embedded.from_env(settings.env).graph.stop():
            stopped.append("graph: stopped, its data is kept")
    if settings.redis_url is not None:
        left = ["Redis of DCF_REDIS_URL: left alone, it is yours"]
    else:
        left = []
        with screen.working("Redis writes its data …"):
            if await Embedded.from_env(settings.env).stop():
                stopped.append("redis: stopped, its data is kept")
    show = [*stopped, *left] if stopped else ["Nothing was running.", *left]
    return Answer({"stopped": stopped, "left": left}, show)
