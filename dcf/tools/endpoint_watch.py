"""Where a server of the older SSE transport wants its calls to be sent."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from typing import cast
from urllib.parse import SplitResult, urljoin, urlsplit

import httpx2

_MOST = 65_536
"""Bytes in which the endpoint is looked for: it is the first event of the stream."""
_SHOWN = 100
_EVENT_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_LINES = re.compile(r"\r\n|\n|\r")


class EndpointWatch(httpx2.AsyncByteStream):
    """The stream of a server at ``url``, unchanged; ``failed`` is told when the endpoint that it
    names is on another host. The SDK refuses that too, but tells nobody who waits for it."""

    def __init__(
        self, inner: httpx2.AsyncByteStream, url: str, failed: Callable[[str], None]
    ) -> None:
        self._inner = inner
        self._url = url
        self._failed = failed

    async def __aiter__(self) -> AsyncIterator[bytes]:
        begun: bytes | None = b""
        async for chunk in self._inner:
            if begun is not None:
                begun = self._looked_at(begun + chunk)
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _looked_at(self, begun: bytes) -> bytes | None:
        """What is still to be looked at; None when the endpoint is known, or will not come."""
        while (end := _EVENT_END.search(begun)) is not None:
            endpoint = _endpoint(begun[: end.start()].decode("utf-8", "replace"))
            if endpoint is not None:
                self._check(endpoint)
                return None
            begun = begun[end.end() :]
        return begun if len(begun) < _MOST else None

    def _check(self, endpoint: str) -> None:
        try:
            named = urlsplit(urljoin(self._url, endpoint))
        except ValueError:
            self._failed("the endpoint that it names is no address")
            return
        own = urlsplit(self._url)
        if (named.scheme, named.netloc) != (own.scheme, own.netloc):
            self._failed(
                f"it wants calls to be sent to {_place(named)}, and its address in the registry is "
                f"{_place(own)}: refused"
            )


def watched(response: httpx2.Response, url: str, failed: Callable[[str], None]) -> httpx2.Response:
    """``response`` with an eye on the endpoint that it names."""
    response.stream = EndpointWatch(cast(httpx2.AsyncByteStream, response.stream), url, failed)
    return response


def _place(address: SplitResult) -> str:
    """Scheme, host and port, without credentials and fit for a message."""
    host = address.netloc.rpartition("@")[2][:_SHOWN].encode("unicode_escape").decode()
    return f"{address.scheme}://{host}"


def _endpoint(event: str) -> str | None:
    fields = dict.fromkeys(("event", "data"), "")
    for line in _LINES.split(event.removeprefix("\ufeff")):
        name, _, value = line.partition(":")
        fields[name] = value.removeprefix(" ")
    return fields["data"] if fields["event"] == "endpoint" else None
