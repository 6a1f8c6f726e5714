"""Asking a running server who it is and how it does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

ANSWER_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Vitals:
    """What INFO says. ``loaded`` is the share of the data read so far, 0 to 1."""

    version: str
    pid: int
    memory_bytes: int
    loading: bool
    loaded: float
    eta_seconds: int
    role: str
    aof: bool
    eviction: str
    modules: Mapping[str, str]

    @classmethod
    def of(cls, info: Mapping[str, Any]) -> Vitals:
        """From the reply to INFO as redis-py parses it."""
        loading = bool(int(info.get("loading", 0)))
        return cls(
            version=str(info.get("redis_version", "0")),
            pid=int(info.get("process_id", 0)),
            memory_bytes=int(info.get("used_memory", 0)),
            loading=loading,
            loaded=float(info.get("loading_loaded_perc", 0)) / 100 if loading else 1.0,
            eta_seconds=int(info.get("loading_eta_seconds", 0)),
            role=str(info.get("role", "master")),
            aof=bool(int(info.get("aof_enabled", 0))),
            eviction=str(info.get("maxmemory_policy", "")),
            modules={
                str(module["name"]).lower(): _dotted(int(module["ver"]))
                for module in info.get("modules", [])
            },
        )


@asynccontextmanager
async def connection(url: str, timeout_s: float = ANSWER_TIMEOUT_S) -> AsyncIterator[Redis]:
    """One connection without retries, closed after the block."""
    client = Redis.from_url(
        url,
        decode_responses=True,
        protocol=2,
        socket_timeout=timeout_s,
        socket_connect_timeout=timeout_s,
        retry=Retry(NoBackoff(), 0),
        single_connection_client=True,
    )
    try:
        yield client
    finally:
        await client.aclose()


async def take_vitals(client: Redis) -> Vitals:
    """INFO, which a server answers while it loads, too."""
    return Vitals.of(await client.info())


def _dotted(number: int) -> str:
    """20803 is 2.8.3, as modules number themselves."""
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"
