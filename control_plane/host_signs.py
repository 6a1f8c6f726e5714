"""Companion hosts and the signs of life that they give."""

from __future__ import annotations

from dataclasses import dataclass

from control_plane import claims, keys
from control_plane.backend import Backend

HOLDS_MS = 15_000
"""How long a sign of life holds, in ms."""


@dataclass(frozen=True, slots=True)
class LivingHost:
    """A host that gave a sign of life ``idle_s`` seconds ago. With ``session_id`` it serves that
    session alone."""

    name: str
    session_id: str | None
    idle_s: float


async def give_sign(backend: Backend, host: str, session_id: str | None) -> None:
    """Say that the host lives; forget those that said so too long ago."""
    now, _ = await claims.ends(backend, keys.COMPANION_HOSTS, ())
    member = _member(host, session_id)
    await claims.put(backend, keys.COMPANION_HOSTS, member, now + HOLDS_MS)
    silent = await backend.command("ZRANGE", keys.COMPANION_HOSTS, "-inf", f"({now}", "BYSCORE")
    await claims.drop(backend, keys.COMPANION_HOSTS, silent)


async def sign_off(backend: Backend, host: str, session_id: str | None) -> None:
    """Say that the host is gone."""
    await claims.drop(backend, keys.COMPANION_HOSTS, [_member(host, session_id)])


async def living_hosts(backend: Backend) -> list[LivingHost]:
    """The hosts whose last sign still holds, by name."""
    now, _ = await claims.ends(backend, keys.COMPANION_HOSTS, ())
    found = await backend.command(
        "ZRANGE", keys.COMPANION_HOSTS, now, "+inf", "BYSCORE", "WITHSCORES"
    )
    hosts = []
    for member, end in zip(found[::2], found[1::2], strict=True):
        session_id, _, name = member.partition("/")
        idle_s = max(0.0, (now + HOLDS_MS - float(end)) / 1000)
        hosts.append(LivingHost(name, session_id or None, idle_s))
    return sorted(hosts, key=lambda host: host.name)


def _member(host: str, session_id: str | None) -> str:
    return f"{session_id or ''}/{host}"
