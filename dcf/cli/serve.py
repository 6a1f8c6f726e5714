"""``dcf serve``."""

from __future__ import annotations

import json
import logging
import os
import stat
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dcf.cli.answer import Answer
from dcf.cli.log_lines import log_to_stderr
from dcf.cli.platform import APPROVAL_TOKEN, open_platform, role_of
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, EnvironmentTrouble
from dcf.problem import Problem
from dcf_agents.installation import installed_version

_log = logging.getLogger(__name__)

_LONGEST_TOKEN = 4_096


@dataclass(frozen=True, slots=True)
class ServeOrder:
    """The command line of ``dcf serve``."""

    host: str
    port: int
    token_file: Path | None
    role: str | None
    root: Path | None
    pool: str
    as_json: bool


async def serve_platform(order: ServeOrder, settings: Settings) -> Answer:
    """Serve until told to stop."""
    from dcf.mcp import Address, serve_http
    from dcf.tools.serving import CannotServe, Guard, is_loopback

    log_to_stderr(settings.log_level)
    role = role_of(order.role)
    token = token_of(order.token_file, settings)
    check_exposed(order.host, token)
    guard = Guard.from_env(settings.env, order.host, token)
    address = Address(order.host, order.port, guard, role, installed_version())
    served: list[str] = []

    def ready(url: str, port: int) -> None:
        served.append(url)
        line = {"event": "ready", "url": url, "port": port, "pid": os.getpid(), "role": role}
        line["decisions"] = APPROVAL_TOKEN if settings.env.get(APPROVAL_TOKEN) else None
        # With --json stdout carries the one document at the end.
        print(json.dumps(line), file=sys.stderr if order.as_json else sys.stdout, flush=True)

    screen = Screen(as_json=True)
    exposed = not is_loopback(order.host)
    async with open_platform(
        settings, screen, root=order.root, pool=order.pool, exposed=exposed
    ) as platform:
        try:
            await serve_http(platform, address, on_ready=ready)
        except CannotServe as error:
            raise EnvironmentTrouble(error.code, str(error), error.hint) from error
    return Answer({"url": served[0] if served else None}, status="stopped")


def check_exposed(host: str, token: str | None, whose: str = "--host") -> None:
    """Before anything is started: off this machine there has to be a token that nobody guesses;
    ``whose`` says what is to be mended. Raises BadInput."""
    from dcf.tools.serving import CannotServe, check_exposure

    try:
        check_exposure(host, token)
    except CannotServe as error:
        problem = Problem("CLI_NO_TOKEN", str(error), hint=error.hint, file=whose)
        raise BadInput([problem]) from error


def warn_of_readers(file: Path) -> None:
    """Say so where others than its owner can read a file with tokens, or change it."""
    with suppress(OSError):  # whoever reads it says that it is not there
        mode = stat.S_IMODE(file.stat().st_mode)
        if mode & 0o077:
            _log.warning(
                "%s has tokens, and others than its owner can read it (mode %o): chmod 600 %s",
                *(file, mode, file),
            )


def token_of(file: Path | None, settings: Settings) -> str | None:
    """The token that clients must send. Raises BadInput."""
    if file is None:
        return settings.env.get("DCF_TOKEN") or None
    warn_of_readers(file)
    try:
        # A device never ends.
        with file.open("rb") as stream:
            token = stream.read(_LONGEST_TOKEN + 1).decode("utf-8").strip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        problem = Problem("CLI_TOKEN_FILE", f"cannot be read: {reason}", file=str(file))
        raise BadInput([problem]) from error
    if not 0 < len(token) <= _LONGEST_TOKEN or not token.isascii() or not token.isprintable():
        shape = f"one line of printable ASCII, at most {_LONGEST_TOKEN} characters"
        hint = f"{shape}, as `openssl rand -hex 32` writes"
        raise BadInput([Problem("CLI_TOKEN_FILE", "holds no token", hint=hint, file=str(file))])
    return token
