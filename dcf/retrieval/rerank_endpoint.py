"""A reranker that is asked over HTTP, by the API that several vendors share.

``POST`` of ``{"query", "documents", "top_n"}``, with ``model`` where one is set, is answered with
``{"results": [{"index", "relevance_score"}]}``: Cohere and Jina AI have it, and so do vLLM and
llama.cpp for models of one's own.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, FiniteFloat, ValidationError

from dcf.retrieval.errors import RerankerFailed
from dcf.secret_form import without_secrets

if TYPE_CHECKING:
    from ssl import SSLContext

_MOST_BYTES = 4 * 1024 * 1024
"""Of an answer: some services send the documents back."""


class _Result(BaseModel):
    model_config = ConfigDict(strict=True)

    index: int
    relevance_score: FiniteFloat


class _Ranking(BaseModel):
    results: list[_Result]


class RerankEndpoint:
    """The service at a URL. What goes there are the query and the texts, without the secrets in
    them and without what ``clean`` takes out."""

    def __init__(
        self, url: str, *, key: str, model: str, timeout_s: float, clean: Callable[[str], str]
    ) -> None:
        self._url = url
        self.name = urlsplit(url).netloc
        self._key = key
        self._more = {"model": model} if model else {}
        self._timeout_s = timeout_s
        self._clean = clean

    async def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Raises RerankerFailed where the service is away, slow, or says anything but one finite
        number for each text."""
        body = await asyncio.to_thread(self._body, query, texts)
        try:
            async with asyncio.timeout(self._timeout_s):
                answer = await self._answer(body)
        except TimeoutError as error:
            raise self._failed(f"no answer in {self._timeout_s:g} s") from error
        return self._read(answer, len(texts))

    def _body(self, query: str, texts: Sequence[str]) -> bytes:
        query, *documents = (self._clean(without_secrets(text)) for text in (query, *texts))
        body = {"query": query, "documents": documents, "top_n": len(documents)}
        return json.dumps({**self._more, **body}).encode()

    async def _answer(self, body: bytes) -> bytes:
        import httpx2

        encrypted = self._url.startswith("https://")
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        # What stays on this machine goes through no proxy of the environment either.
        client = httpx2.AsyncClient(
            verify=_trusted() if encrypted else False, trust_env=encrypted, timeout=None
        )
        taken = bytearray()
        try:
            async with (
                client,
                client.stream("POST", self._url, content=body, headers=headers) as response,
            ):
                if response.status_code != 200:
                    raise self._failed(f"it answers with HTTP {response.status_code}")
                async for chunk in response.aiter_raw():
                    taken += chunk
                    if len(taken) > _MOST_BYTES:
                        raise self._failed(f"its answer has over {_MOST_BYTES:,} bytes")
        except (httpx2.HTTPError, OSError) as error:
            raise self._failed(f"it cannot be asked ({type(error).__name__})") from error
        return bytes(taken)

    def _read(self, answer: bytes, count: int) -> list[float]:
        try:
            results = _Ranking.model_validate_json(answer).results
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = "/".join(map(str, first["loc"]))
            said = f"{place}: {first['msg']}" if place else first["msg"]
            raise self._failed(f"its answer is none of a reranker ({said})") from error
        scores = {one.index: one.relevance_score for one in results}
        if len(results) != count or scores.keys() != set(range(count)):
            raise self._failed(f"its answer does not have each of {count} texts once")
        return [scores[index] for index in range(count)]

    def _failed(self, reason: str) -> RerankerFailed:
        return RerankerFailed(self.name, reason)


# Reading the certificates of the machine takes as long as twenty requests.
@cache
def _trusted() -> SSLContext:
    import httpx2

    return httpx2.create_ssl_context()
