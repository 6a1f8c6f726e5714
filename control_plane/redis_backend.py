"""The control plane on a real Redis."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError, InvalidResponse, RedisError, TimeoutError

from control_plane.batching import BatchedScripts
from control_plane.embedded.address import redact
from control_plane.errors import ControlPlaneError, NotText
from control_plane.refusals import refusal_of, translated
from control_plane.script import Script

# A blocking read returns within 2 s; a socket that is silent for longer than this is dead.
SOCKET_TIMEOUT_S = 10.0
# A reply that breaks the protocol comes from something between client and server: asked again.
_AWAY = (ConnectionError, InvalidResponse, TimeoutError)


class RedisBackend:
    """A pool of connections.

    Calls are repeated a few times when the connection drops: a script that moves a state or a run
    gives a repeated call its first answer, and for the rest (tick, claim, close, gc) a repetition
    does nothing that the next sweep would not do. ``place`` is the server's
    address in error messages.
    """

    def __init__(self, client: Redis, *, place: str = "its address") -> None:
        self._client = client
        self._place = place
        self._send: Callable[..., Awaitable[Any]] = client.execute_command
        self._scripts = BatchedScripts(client, silent_s=SOCKET_TIMEOUT_S)
        # Replies as RESP2 gives them, the shape that the twin answers in too.
        client.response_callbacks.clear()

    @classmethod
    def from_url(cls, url: str, *, connections: int = 32, retries: int = 3) -> RedisBackend:
        """Connect lazily to ``url`` (``redis://``, ``rediss://`` or ``unix://``)."""
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=connections,
            timeout=None,
            decode_responses=True,
            protocol=2,
            socket_timeout=SOCKET_TIMEOUT_S,
            retry=Retry(ExponentialBackoff(cap=0.5, base=0.02), retries),
            retry_on_error=[ConnectionError, TimeoutError],
        )
        return cls(Redis(connection_pool=pool), place=redact(url))

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        """See ``Backend.run``."""
        try:
            return await self._scripts.run(script, keys, args)
        except RedisError as error:
            raise await self._translated(error) from error
        except UnicodeDecodeError as error:
            raise NotText(why=str(error)) from error

    async def command(self, *args: str | int) -> Any:
        """See ``Backend.command``.

        A cancellation that arrived meanwhile ends it, whatever the call came to: redis-py sends
        through ``asyncio.wait_for``, which in Python 3.11 loses a cancellation that comes just when
        the sending is done.
        """
        task = asyncio.current_task()
        before = task.cancelling() if task is not None else 0
        try:
            return await self._send(*args)
        except RedisError as error:
            raise await self._translated(error) from error
        except UnicodeDecodeError as error:
            raise NotText(why=str(error)) from error
        finally:
            if task is not None and task.cancelling() > before:
                raise asyncio.CancelledError

    async def close(self) -> None:
        """Close all connections."""
        await self._scripts.close()
        await self._client.aclose()
        await self._client.connection_pool.aclose()

    async def _translated(self, error: RedisError) -> ControlPlaneError:
        """``error`` as the control plane's own."""
        refusing = refusal_of(error)
        if refusing is not None and refusing.elsewhere:
            # The name of the server may stand for another one by now.
            self._scripts.reconnect()
            await self._client.connection_pool.disconnect(inuse_connections=False)
        return translated(error, away=_AWAY, server=self._place)
