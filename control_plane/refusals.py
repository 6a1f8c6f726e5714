"""What a Redis server says when it refuses, which of it passes by itself, and how people say it.

The texts stand in Redis's own source (7.0 to 8.2): ``src/server.c``, ``createSharedObjects`` (OOM,
READONLY, MISCONF, LOADING, BUSY, MASTERDOWN, NOREPLICAS, NOAUTH, WRONGTYPE) and
``writeCommandsGetDiskErrorMessage`` (MISCONF, where the append-only file cannot be written);
``src/networking.c`` (the limit of clients); ``src/blocked.c`` (UNBLOCKED); ``src/cluster.c``,
``clusterRedirectClient`` (CLUSTERDOWN, TRYAGAIN); ``src/acl.c`` (WRONGPASS, NOPERM);
``src/script.c`` and ``src/script_lua.c`` (what a script hears in place of these). "Existing key
has wrong Redis type" is RedisJSON's.

A server that refuses for a while did nothing of what it was asked: the call may be repeated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from redis.exceptions import AuthenticationError, RedisError

from control_plane.errors import (
    ControlPlaneError,
    Disconnected,
    RefusedForGood,
    RefusedForNow,
    ServerError,
    WrongType,
)

# Where in which script it was: nothing for people.
_PLACE = re.compile(r" script: [0-9a-f]{40}, on @user_script:\d+\.$")

Scope = Literal["writes", "commands", "client", "key"]


@dataclass(frozen=True, slots=True)
class Refusing:
    """One way to refuse. A server's text is of it when it begins with one of ``signs``, after
    ``ERR `` if that stands before.

    ``scope`` is what is refused: ``writes`` or all ``commands`` for a while, the ``client`` or what
    needs this ``key`` until somebody changes something. With ``elsewhere`` another server may have
    become the right one: connections are made anew, so that its name is looked up again.
    """

    code: str
    scope: Scope
    reason: str
    hint: str
    signs: tuple[str, ...]
    elsewhere: bool = False

    @property
    def passes(self) -> bool:
        """Whether it is waited for."""
        return self.scope in ("writes", "commands")

    @property
    def sentence(self) -> str:
        """``Redis refuses writes: out of memory``."""
        return f"Redis refuses {self.scope}: {self.reason}"


TABLE = (
    Refusing(
        "OOM",
        "writes",
        "out of memory",
        "raise its maxmemory (CONFIG SET maxmemory), or free memory with `dcf runs remove`: work "
        "goes on by itself",
        ("OOM ",),
    ),
    Refusing(
        "READONLY",
        "writes",
        "it is a read-only replica",
        "a fail-over ends by itself; else point DCF_REDIS_URL at the primary",
        ("READONLY ",),
        elsewhere=True,
    ),
    Refusing(
        "MISCONF",
        "writes",
        "it cannot save to its disk",
        "its log says why: mostly the disk is full, or its folder cannot be written",
        ("MISCONF ",),
    ),
    Refusing(
        "NOREPLICAS",
        "writes",
        "too few replicas follow it",
        "start its replicas, or lower its min-replicas-to-write",
        ("NOREPLICAS ",),
    ),
    Refusing(
        "LOADING",
        "commands",
        "it loads its data",
        "wait until it has; `dcf doctor` shows how far it is",
        ("LOADING ",),
    ),
    Refusing(
        "BUSY",
        "commands",
        "it runs a script that does not end",
        "SCRIPT KILL ends the script, unless it has written",
        ("BUSY ",),
    ),
    Refusing(
        "MASTERDOWN",
        "commands",
        "it is a replica and its primary is down",
        "a fail-over ends by itself; else point DCF_REDIS_URL at the primary",
        ("MASTERDOWN ",),
        elsewhere=True,
    ),
    Refusing(
        "CLUSTERDOWN",
        "commands",
        "its cluster is down",
        "see `redis-cli CLUSTER INFO`: each slot needs a node",
        (
            "CLUSTERDOWN ",
            "Script attempted to execute a command while the cluster is down",
            "Script attempted to execute a write command while the cluster is down",
            "Script attempted to access a slot not served",
        ),
    ),
    Refusing(
        "TRYAGAIN",
        "commands",
        "its cluster moves these keys",
        "wait until the slot has moved",
        ("TRYAGAIN ",),
    ),
    Refusing(
        "MAXCLIENTS",
        "commands",
        "too many clients are connected",
        "end some of them, or raise its maxclients",
        ("max number of clients reached",),
    ),
    Refusing(
        "UNBLOCKED",
        "commands",
        "it becomes a replica",
        "a fail-over ends by itself; else point DCF_REDIS_URL at the primary",
        ("UNBLOCKED ",),
        elsewhere=True,
    ),
    Refusing(
        "NOAUTH",
        "client",
        "it demands a password",
        "put user and password into DCF_REDIS_URL: redis://user:password@host:6379",
        ("NOAUTH ",),
    ),
    Refusing(
        "WRONGPASS",
        "client",
        "it does not accept this user name and password",
        "correct them in DCF_REDIS_URL: redis://user:password@host:6379",
        (
            "WRONGPASS ",
            "invalid password",
            "AUTH <password> called without any password",
            "Client sent AUTH, but no password is set",
        ),
    ),
    Refusing(
        "NOPERM",
        "client",
        "its access rules (ACL) do not allow this user what DCF needs",
        "allow the user of DCF_REDIS_URL all keys and commands: ACL SETUSER name ~* +@all",
        ("NOPERM ", "ACL failure in script"),
    ),
    Refusing(
        "UNKNOWN",
        "client",
        "it does not know a command that DCF needs",
        "DCF needs Redis 7 or newer with JSON: load the module RedisJSON, or take Redis 8",
        ("unknown command", "Unknown Redis command"),
    ),
    Refusing(
        "WRONGTYPE",
        "key",
        "something that is not DCF's stands at one of its keys",
        "give DCF a Redis, or a database of it, of its own",
        ("WRONGTYPE ", "Existing key has wrong Redis type"),
    ),
)
"""All that is recognised; each text is of one of them at most."""


def refusal_in(text: str) -> Refusing | None:
    """How a server refuses that answered ``text``, which begins with its code where it has one;
    None for any other error."""
    said = text.removeprefix("ERR ")
    return next((one for one in TABLE if said.startswith(one.signs)), None)


def refusal_of(error: RedisError) -> Refusing | None:
    """How a server refuses that made redis-py raise ``error``: it takes the code from the texts
    that it has classes for."""
    said = _said_by_server(error)
    found = refusal_in(_answer(said))
    if found is None and isinstance(said, AuthenticationError):
        # In words that no table knows yet, and all the same no matter of waiting.
        return refusal_in("WRONGPASS ")
    return found


def translated(
    error: RedisError, *, away: tuple[type[RedisError], ...], server: str
) -> ControlPlaneError:
    """One of redis-py's exceptions as the control plane's own. ``away`` are those of a server that
    cannot be reached, ``server`` names it without credentials."""
    refusing = refusal_of(error)
    if refusing is None:
        if isinstance(error, away):
            return Disconnected(f"Redis is not reachable: {error}")
        return ServerError(str(error))
    return as_error(refusing, _answer(_said_by_server(error)), server)


def as_error(refusing: Refusing, answer: str, server: str) -> ControlPlaneError:
    """What is raised where ``server``, named without credentials, gave this ``answer``."""
    if refusing.scope == "key":
        return WrongType(answer, hint=refusing.hint)
    about = {"refusal": refusing.code, "reason": refusing.reason, "hint": refusing.hint}
    if refusing.passes:
        return RefusedForNow(refusing.sentence, scope=refusing.scope, answer=answer, **about)
    plain = _PLACE.sub("", answer)
    said = f"Redis at {server} refuses to work for DCF: {refusing.reason} ({plain})"
    return RefusedForGood(said, answer=answer, **about)


def _said_by_server(error: RedisError) -> RedisError:
    """What ``error`` was raised from: over a unix socket redis-py logs in while it connects, and
    tells whatever the server answers then as a lost connection."""
    while isinstance(error.__cause__, RedisError):
        error = error.__cause__
    return error


def _answer(error: RedisError) -> str:
    """What the server said, with its code."""
    code = error.status_code
    return f"{code} {error}" if code else str(error)
