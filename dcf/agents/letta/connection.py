"""The connection to a Letta server: loaded when it is first used, its failures told as ours."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dcf.agents.letta.errors import LettaDenied, LettaFailed, LettaMissing, LettaUnreachable

if TYPE_CHECKING:
    from letta_client import APIStatusError, AsyncLetta

    from dcf.agents.letta.server import LettaServer

_PERHAPS_AGAIN = 2
"""Tries after the first, of requests that change nothing."""


class NotThere(LettaFailed):
    """The Letta server at {url} does not have it (HTTP {status}): {cause}."""


class Connection:
    """One client of ``server`` for everything, made by the first use."""

    def __init__(self, server: LettaServer) -> None:
        self.server = server
        self._client: AsyncLetta | None = None
        self._reader: AsyncLetta | None = None

    async def client(self) -> AsyncLetta:
        """For requests that change something: each is sent once. Raises LettaMissing."""
        if self._client is None:
            made = await asyncio.to_thread(self._open)
            self._client = self._client or made
        return self._client

    async def reader(self) -> AsyncLetta:
        """For requests that change nothing: they are sent again after a failure."""
        if self._reader is None:
            client = await self.client()
            self._reader = self._reader or client.with_options(max_retries=_PERHAPS_AGAIN)
        return self._reader

    @contextmanager
    def asking(self) -> Iterator[None]:
        """What goes wrong with requests inside is raised as LettaUnreachable, LettaDenied, NotThere
        or LettaFailed."""
        import letta_client

        url = self.server.url
        try:
            yield
        except letta_client.APIConnectionError as error:
            raise LettaUnreachable(url=url, cause=_cause(error)) from error
        except letta_client.APIStatusError as error:
            raise self.failure(error) from error

    def failure(self, error: APIStatusError) -> LettaDenied | LettaFailed:
        """What a status of the server means."""
        url, status = self.server.url, error.status_code
        if status in (401, 403):
            return LettaDenied(url=url, status=status)
        # An id of another form than the server's own is no id of anything.
        gone = status == 404 or (status == 422 and "'path'" in told(error))
        return (NotThere if gone else LettaFailed)(url=url, status=status, cause=told(error))

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()

    def _open(self) -> AsyncLetta:
        try:
            from letta_client import AsyncLetta
        except ImportError as error:
            raise LettaMissing() from error
        return AsyncLetta(
            base_url=self.server.url.rstrip("/"),
            # The client takes its own variable for a token that is not given.
            api_key=self.server.token or "",
            timeout=self.server.timeout_s,
            max_retries=0,
        )


def told(error: APIStatusError) -> str:
    """What the server says went wrong."""
    body: Any = error.body
    for member in ("detail", "message"):
        if isinstance(body, dict) and body.get(member):
            body = body[member]
    return str(body or error.message)[:1000]


def _cause(error: Exception) -> str:
    return str(error.__cause__ or error) or type(error).__name__
