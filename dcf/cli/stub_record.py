"""``dcf stub record``: a proxy in front of a real server that writes its answers as cases."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dcf.cli.answer import Answer
from dcf.cli.log_lines import log_to_stderr
from dcf.cli.settings import Settings
from dcf.cli.stub import cannot_serve, print_ready
from dcf.cli.wording import counted
from dcf.problem import Problem
from dcf.regular_file import read_regular
from dcf.tools import InvalidDocument, Registry, ServerConfig, Toolbox
from dcf.tools.recorder import (
    Proxy,
    Recording,
    Redaction,
    authored_tools,
    create_recorder_app,
    tools_text,
)
from dcf.tools.serving import CannotServe, check_exposure, is_loopback, serve_app
from dcf.tools.stub import place_from

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RecordOrder:
    """The command line of ``dcf stub record``; what is None was not given."""

    server: str
    registry: Path | None
    out: Path | None
    host: str | None
    port: int | None
    token: str | None
    as_json: bool


class _ToolsFile:
    """The file that is written: what others put into it meanwhile is kept too."""

    def __init__(self, path: Path, server_id: str, redaction: Redaction) -> None:
        self.path = path
        self._server_id = server_id
        self._redaction = redaction
        self._before = self._read()
        self._written: str | None = None

    def write(self, recording: Recording) -> None:
        """Bring the file up to date. From the text it had before this session, so that the order of
        calls does not show; unless somebody has edited it since. Raises ``InvalidDocument``."""
        now = self._read()
        if self._written is not None and now != self._written:
            self._before = now
        tools = authored_tools(recording, self._redaction)
        text = tools_text(self._before, self._server_id, tools, self.path)
        if text != now:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fresh = self.path.with_name(f".{self.path.name}.new")
            fresh.write_text(text, encoding="utf-8")
            fresh.replace(self.path)
        self._written = text

    def try_to_write(self, recording: Recording) -> None:
        """As ``write``, while calls come in: what goes wrong is logged, and tried again."""
        try:
            self.write(recording)
        except (InvalidDocument, OSError) as error:
            _log.error("%s is not up to date: %s", self.path, error)

    def _read(self) -> str | None:
        """The text, None without a file. Raises ``InvalidDocument`` for what cannot be read."""
        try:
            return read_regular(self.path).decode("utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeError) as error:
            why = (isinstance(error, OSError) and error.strerror) or "it is no text in UTF-8"
            hint = "record into a file of its own with --out"
            message = f"the file cannot be added to: {why}"
            problem = Problem("TOOL_RECORD_FILE", message, hint=hint, file=str(self.path))
            raise InvalidDocument([problem]) from error


async def run_recorder(order: RecordOrder, settings: Settings) -> Answer:
    """Record until SIGTERM or Ctrl-C. Raises BadInput, EnvironmentTrouble and what reading the
    registry and reaching the server raise."""
    log_to_stderr(settings.log_level)
    registry = Registry.load(order.registry or settings.generated / "registry.json", settings.env)
    config = registry.server(order.server)
    out = order.out or Path(f"{order.server}.recorded.tools.yaml")
    file = _ToolsFile(out, order.server, Redaction(_secrets(config)))
    recording = Recording()
    try:
        place = place_from(settings.env, settings.stub_config)
        host = order.host or place.host
        token = order.token or settings.env.get("DCF_TOKEN")
        check_exposure(host, token)
        asked = token if order.token or not is_loopback(host) else None
        async with Toolbox(registry) as toolbox:
            proxy = Proxy(
                toolbox,
                order.server,
                recording,
                new_key=lambda: f"recorder/{secrets.token_hex(16)}",
                on_news=lambda: file.try_to_write(recording),
            )
            await proxy.list_tools()
            file.write(recording)
            await serve_app(
                create_recorder_app(proxy, token=asked),
                host,
                place.port if order.port is None else order.port,
                grace_s=0,
                on_ready=lambda url, port: print_ready(
                    {"event": "ready", "url": url, "port": port, "out": str(out)},
                    as_json=order.as_json,
                ),
            )
            file.write(recording)
    except CannotServe as error:
        raise cannot_serve(error) from None
    fields = {"out": str(out), "tools": len(recording.tools), "calls": recording.calls}
    tools = counted(len(recording.tools), "tool", "tools")
    done = f"{out}: {tools}, {counted(recording.calls, 'call', 'different calls')} recorded"
    return Answer(fields, show=[done], status="recorded")


def _secrets(config: ServerConfig) -> Iterator[str]:
    """What the connection carries that no file may have."""
    yield from config.secrets.values()
    for value in config.headers.values():
        yield value
        yield from value.split()[1:]  # the token after Bearer
