"""Sorted sets of what is due: who claims a member has it to himself for a while.

A score is a moment (ms, by Redis's clock): the look-at time of a run or a session, the end of a
companion's seat. Who dies over what it claimed loses nothing, since it is due again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from control_plane import keys, payload, script
from control_plane.backend import Backend

_FARTHEST_MS = 2**53
CLAIM_MS = 15_000
"""How far ahead a claim pushes a member, in ms (see claim.lua)."""
ACCEPTED_EVERY_MS = 1_000
"""How often whoever claims of the index writes down that writes are accepted (see claim.lua)."""
_BATCH = 500


def moment_ms(score: str) -> int:
    """The moment that a score is, in ms; of one that somebody set to infinity the farthest."""
    return int(min(max(float(score), -_FARTHEST_MS), _FARTHEST_MS))


@dataclass(frozen=True, slots=True)
class Claimed:
    """``members`` that were due, now the caller's until ``now_ms + CLAIM_MS``. ``next_ms`` is when
    the next member is due, None without any."""

    members: tuple[str, ...]
    now_ms: int
    next_ms: int | None


async def claim(
    backend: Backend, key: str, limit: int, *, of: Sequence[str] | None = None
) -> Claimed:
    """Claim up to ``limit`` members that are due, those that are due longest first; with ``of``
    none but these. A claim of the index also notes when a write was accepted last."""
    asked = {"limit": limit} if of is None else {"limit": limit, "of": list(of)}
    request = payload.to_text(asked)
    names = [key, keys.ACCEPTED] if key == keys.INDEX else [key]
    members, head, now = await backend.run(script.load("claim"), names, [request])
    return Claimed(tuple(members), int(now), moment_ms(head) if head else None)


async def keep(backend: Backend, key: str, members: Iterable[str], ahead_ms: int) -> dict[str, int]:
    """Push members that are still there ``ahead_ms`` ahead of now; member -> when each is due then.
    One that is missing was dropped by somebody, and stays so."""
    due: dict[str, int] = {}
    for batch in _batches(members):
        request = payload.to_text({"members": batch, "ahead": ahead_ms})
        kept, at = await backend.run(script.load("keep"), [key], [request])
        due.update(dict.fromkeys(kept, int(at)))
    return due


async def put(backend: Backend, key: str, member: str, at_ms: int) -> None:
    """Make ``member`` due at ``at_ms``, whenever it was due before."""
    await backend.command("ZADD", key, at_ms, member)


async def offer(backend: Backend, key: str, member: str, at_ms: int) -> None:
    """Make ``member`` due at ``at_ms``, unless it is there already."""
    await backend.command("ZADD", key, "NX", at_ms, member)


async def sooner(backend: Backend, key: str, member: str, at_ms: int) -> None:
    """Make ``member`` due at ``at_ms``, unless it is due earlier anyway."""
    await backend.command("ZADD", key, "LT", at_ms, member)


async def drop(backend: Backend, key: str, members: Sequence[str]) -> int:
    """Take members out; how many were there."""
    dropped = 0
    for batch in _batches(members):
        dropped += int(await backend.command("ZREM", key, *batch))
    return dropped


async def ends(backend: Backend, key: str, members: Iterable[str]) -> tuple[int, dict[str, int]]:
    """Redis's clock, and when those of ``members`` are due that are there."""
    due: dict[str, int] = {}
    for batch in _batches(members):
        scores = await backend.command("ZMSCORE", key, *batch)
        for member, score in zip(batch, scores, strict=True):
            if score is not None:
                due[member] = moment_ms(score)
    seconds, micros = await backend.command("TIME")
    return int(seconds) * 1000 + int(micros) // 1000, due


def _batches(members: Iterable[str]) -> list[list[str]]:
    found = list(members)
    return [found[at : at + _BATCH] for at in range(0, len(found), _BATCH)]
