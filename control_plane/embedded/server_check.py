"""Whether a Redis server that somebody else runs can carry the control plane."""

from __future__ import annotations

import re
from dataclasses import dataclass

from redis.asyncio import Redis
from redis.exceptions import ConnectionError, RedisError, ResponseError

from control_plane.embedded.address import check_url, redact
from control_plane.embedded.check import Check
from control_plane.embedded.errors import (
    ServerBusy,
    ServerDatabaseMissing,
    ServerLoading,
    ServerReadOnly,
    ServerRefusedLogin,
    ServerRefusesClient,
    ServerTooOld,
    ServerUnreachable,
    ServerUnsuitable,
    ServerUrlInvalid,
    ServerWithoutJson,
)
from control_plane.embedded.vitals import ANSWER_TIMEOUT_S, Vitals, connection, take_vitals
from control_plane.refusals import TABLE, Refusing, refusal_in, refusal_of

OLDEST_VERSION = "7.0"
_LOGIN = frozenset({"NOAUTH", "WRONGPASS"})
# src/db.c, selectCommand: out of range, no integer, or in a cluster.
_OF_SELECT = re.compile(r"DB index|SELECT is not allowed", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ServerReport:
    """A suitable server. ``concerns`` are findings it works with, but that put data at risk."""

    server: str
    version: str
    json_version: str
    concerns: tuple[Check, ...] = ()


async def check_server(url: str, timeout_s: float = ANSWER_TIMEOUT_S) -> ServerReport:
    """Examines the server at ``url``, writing nothing.

    Raises a ServerUnsuitable whose message names the server without its credentials.
    """
    server = redact(url)
    try:
        check_url(url)
        async with connection(url, timeout_s) as client:
            vitals = await take_vitals(client)
            _demand_ready(vitals, server)
            await _demand_json(client, vitals, server)
    except ValueError as error:
        raise ServerUrlInvalid(server=server, reason=_scrub(error, url)) from error
    except (RedisError, OSError) as error:
        raise _told(error, url) from error
    return ServerReport(
        server, vitals.version, vitals.modules.get("rejson", vitals.version), _concerns(vitals)
    )


def _told(error: RedisError | OSError, url: str) -> ServerUnsuitable:
    """What kept the server at ``url`` from being examined."""
    server, reason = redact(url), _scrub(error, url)
    refusing = _refusal(error) if isinstance(error, RedisError) else None
    if refusing is not None and refusing.passes:
        about = {"scope": refusing.scope, "reason": refusing.reason, "help": refusing.hint}
        return ServerBusy(server=server, **about)
    if refusing is not None and refusing.code in _LOGIN:
        return ServerRefusedLogin(server=server, reason=reason)
    if isinstance(error, ResponseError):
        if _OF_SELECT.search(reason):
            return ServerDatabaseMissing(server=server, reason=reason)
        return ServerRefusesClient(server=server, reason=reason)
    if url.startswith("rediss://"):
        reason += "; with rediss:// it has to speak TLS"
    return ServerUnreachable(server=server, reason=reason)


def _refusal(error: RedisError) -> Refusing | None:
    """How the server refuses that made redis-py raise ``error``; None if it does not."""
    if isinstance(error, ConnectionError) and "while writing" in str(error):
        # A server that is full says so and hangs up: who writes first does not get to read it.
        return refusal_in("max number of clients reached")
    return refusal_of(error)


def _demand_ready(vitals: Vitals, server: str) -> None:
    """Version, data and role."""
    if _order(vitals.version) < _order(OLDEST_VERSION):
        raise ServerTooOld(server=server, version=vitals.version, needed=OLDEST_VERSION)
    if vitals.loading:
        raise ServerLoading(
            server=server,
            percent=100 * vitals.loaded,
            eta_seconds=vitals.eta_seconds,
            **_refusing("LOADING"),
        )
    if vitals.role != "master":
        raise ServerReadOnly(server=server, **_refusing("READONLY"))


def _refusing(code: str) -> dict[str, str]:
    """What a server refuses for this reason, and how people say it."""
    found = next(one for one in TABLE if one.code == code)
    return {"scope": found.scope, "reason": found.reason}


async def _demand_json(client: Redis, vitals: Vitals, server: str) -> None:
    """JSON.SET may come from a module or be built in: the list of commands knows."""
    # The method command_info() of redis-py takes no names.
    commands = await client.execute_command("COMMAND INFO", "JSON.SET")  # type: ignore[no-untyped-call]
    if not commands or commands[0] is None:
        raise ServerWithoutJson(server=server, version=vitals.version)


def _concerns(vitals: Vitals) -> tuple[Check, ...]:
    """Settings under which a loaded or restarted server forgets."""
    concerns = []
    if vitals.eviction != "noeviction":
        concerns.append(
            Check(
                "maxmemory-policy",
                False,
                f"{vitals.eviction}: when memory runs out, runs are deleted",
                "CONFIG SET maxmemory-policy noeviction",
                required=False,
            )
        )
    if not vitals.aof:
        concerns.append(
            Check(
                "appendonly",
                False,
                "no: what was written since the last snapshot is lost at a restart",
                "CONFIG SET appendonly yes",
                required=False,
            )
        )
    return tuple(concerns)


def _order(version: str) -> tuple[int, ...]:
    """A version as numbers; what is not a number counts as 0."""
    return tuple(int(part) if part.isdigit() else 0 for part in version.split("."))


def _scrub(error: Exception, url: str) -> str:
    """The error's own words, without the URL in case they repeat it."""
    return str(error).replace(url, redact(url)).rstrip(".") or type(error).__name__
