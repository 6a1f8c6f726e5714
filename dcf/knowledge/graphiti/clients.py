"""What Graphiti wants beside a database: our embedder, an order of texts, and no model.

Imports graphiti_core: only after ``demand_graphiti``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.llm_client.client import LLMClient
from graphiti_core.llm_client.config import LLMConfig

from dcf.knowledge.meaning import never_zero

if TYPE_CHECKING:
    from dcf.search import Embedder


class OurEmbedder(EmbedderClient):
    """The embedder that the graph was written with."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def create(
        self, input_data: str | list[str] | Iterable[int] | Iterable[Iterable[int]]
    ) -> list[float]:
        text = input_data if isinstance(input_data, str) else str(next(iter(input_data)))
        return never_zero(text, self._embedder.embed_queries([text])[0].tolist())

    async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
        rows = self._embedder.embed(input_data_list).tolist()
        return [never_zero(text, row) for text, row in zip(input_data_list, rows, strict=True)]


class ByMeaning(CrossEncoderClient):
    """Orders passages by how near their vectors are to the query's."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        if not passages:
            return []
        asked = self._embedder.embed_queries([query])[0]
        scores = (self._embedder.embed(passages) @ asked).tolist()
        ranked = zip(passages, scores, strict=True)
        return sorted(ranked, key=lambda pair: -pair[1])


class NoModel(LLMClient):
    """Searching needs no model, and none is asked."""

    def __init__(self) -> None:
        super().__init__(LLMConfig(api_key="none", model="none"))

    async def _generate_response(self, *_: Any, **__: Any) -> dict[str, Any]:
        raise RuntimeError("a search of Graphiti asked for a model, and there is none")
