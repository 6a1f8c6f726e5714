"""The stub tool server of a generated folder: found, started, stopped."""

from __future__ import annotations

import hashlib
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dcf.cli.background import Background, BackgroundFolder
from dcf.cli.http_get import get_json
from dcf.cli.settings import DEFAULT_STUB_URL, Settings
from dcf.cli.trouble import EnvironmentTrouble
from dcf.tools import NO_STUB

_PREFIX = "stub"
_GRACE_S = 5.0


@dataclass(frozen=True, slots=True)
class Stub:
    """A stub that answers. ``started`` tells whether it was started just now."""

    url: str
    tools: int
    pid: int | None
    started: bool


class StubServer:
    """The stub that serves ``settings.stub_config``.

    With DCF_STUB_URL it is where that says, and the user's: it is only asked. Otherwise it is at
    port 8765, or at a free port where something else has that one, noted in the home: each
    generated folder has a stub of its own.
    """

    def __init__(self, settings: Settings, folder: BackgroundFolder) -> None:
        self._settings = settings
        self._folder = folder
        mark = hashlib.sha256(str(settings.generated).encode()).hexdigest()[:8]
        self.name = f"{_PREFIX}-{mark}"

    @property
    def url(self) -> str:
        """Where it is, or would be started."""
        noted = self._folder.last_details(self.name).get("url")
        return self._settings.stub_url or noted or DEFAULT_STUB_URL

    def url_now(self) -> str:
        """Where it can be called now: NO_STUB while it does not run, since what listens then where
        it was is somebody else's."""
        if self._settings.stub_url is not None:
            return self._settings.stub_url
        process = self._folder.find(self.name)
        return NO_STUB if process is None else str(process.details["url"])

    async def find(self) -> Stub | None:
        """The stub at ``url`` if it answers and serves our configuration."""
        health = await get_json(f"{self.url}/healthz")
        if not self._is_ours(health):
            return None
        process = self._folder.find(self.name)
        if self._settings.stub_url is not None:
            return Stub(self.url, int(health["tools"]), None, started=False)
        if process is None or process.details.get("url") != self.url:
            # Of another home, which may stop it at any time.
            return None
        return Stub(self.url, int(health["tools"]), process.pid, started=False)

    async def ensure(self) -> Stub:
        """The stub, started if it does not run. Raises EnvironmentTrouble."""
        found = await self.find()
        if found is not None:
            return found
        if self._settings.stub_url is not None:
            raise _unavailable(self._settings.stub_url)
        config = self._settings.stub_config
        if not config.is_file():
            hint = "`dcf skills generate` writes it, or set DCF_GENERATED to the right folder"
            raise EnvironmentTrouble("stub_unconfigured", f"there is no {config}", hint)
        leftover = self._folder.find(self.name)
        if leftover is not None:
            await self._folder.stop(leftover, _GRACE_S)
        process = await self._start(config)
        health = await get_json(f"{process.details['url']}/healthz")
        tools = int(health["tools"]) if self._is_ours(health) else 0
        return Stub(str(process.details["url"]), tools, process.pid, started=True)

    async def stop(self) -> Background | None:
        """End the stub of this generated folder; None when it has none."""
        process = self._folder.find(self.name)
        if process is not None:
            await self._folder.stop(process, _GRACE_S)
        return process

    async def stop_all(self) -> list[Background]:
        """End the stubs of every generated folder that this home knows."""
        stubs = [one for one in self._folder.all() if one.name.startswith(_PREFIX)]
        for process in stubs:
            await self._folder.stop(process, _GRACE_S)
        return stubs

    async def _start(self, config: Path) -> Background:
        place = urlsplit(self.url)
        host, port = place.hostname or "127.0.0.1", place.port or 80
        if not _is_free(host, port):
            port = 0
        try:
            return await self._start_at(host, port, config)
        except EnvironmentTrouble:
            if port == 0:
                raise
            # Somebody else may have had the port in between; another trouble comes again.
            return await self._start_at(host, 0, config)

    async def _start_at(self, host: str, port: int, config: Path) -> Background:
        command = [
            sys.executable, "-P", "-m", "dcf.tools.stub",
            "--config", str(config), "--host", host, "--port", str(port),
        ]  # fmt: skip
        return await self._folder.start(self.name, command, self._settings.env)

    def _is_ours(self, health: Any) -> bool:
        """Whether ``health`` comes from a stub that serves our configuration."""
        if not isinstance(health, dict) or not isinstance(health.get("tools"), int):
            return False
        if self._settings.stub_url is not None:
            # The user's choice: it may serve another copy, on another machine.
            return True
        return str(health.get("config")) == str(self._settings.stub_config)


def _is_free(host: str, port: int) -> bool:
    """Whether a server could listen there now."""
    try:
        with socket.create_server((host, port), reuse_port=False):
            return True
    except OSError:
        return False


def _unavailable(url: str) -> EnvironmentTrouble:
    hint = "start it there, correct DCF_STUB_URL, or unset it: DCF then starts a stub of its own"
    message = f"DCF_STUB_URL={url}: no stub tool server answers there"
    return EnvironmentTrouble("stub_unavailable", message, hint)
