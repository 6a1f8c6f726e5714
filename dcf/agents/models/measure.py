"""How many tokens a request can have at most, before anybody has counted them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dcf.agents.models.request_text import message_text, offer_text

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import ModelRequestParameters

_AROUND_MESSAGE = 32
# Providers put orders of their own around tools, a few hundred tokens.
_AROUND_REQUEST = 1024


class Measure:
    """Bounds of the requests of one conversation.

    Every token of a text is at least one of its bytes, so the bytes of a request are more than its
    tokens, about four times as many for English. Where a request begins as the one before it did,
    the provider's own count takes the place of that part.
    """

    def __init__(self) -> None:
        self._offer = ""
        self._counted: list[str] = []
        self._tokens = 0

    def most(self, messages: Sequence[ModelMessage], offer: ModelRequestParameters) -> int:
        """The most input tokens that a request can have."""
        texts = [message_text(message) for message in messages]
        same = offer_text(messages, offer)
        known = len(self._counted)
        if known and same == self._offer and _digests(texts[:known]) == self._counted:
            return self._tokens + _bytes(texts[known:])
        return _AROUND_REQUEST + len(_coded(same)) + _bytes(texts)

    def counted(
        self, messages: Sequence[ModelMessage], offer: ModelRequestParameters, tokens: int
    ) -> None:
        """The provider counted ``tokens`` of input for this request; 0 where it did not say."""
        if tokens <= 0:
            return
        self._offer = offer_text(messages, offer)
        self._counted = _digests([message_text(message) for message in messages])
        self._tokens = tokens


def _bytes(texts: Sequence[str]) -> int:
    return sum(len(_coded(text)) + _AROUND_MESSAGE for text in texts)


def _digests(texts: Sequence[str]) -> list[str]:
    return [hashlib.sha256(_coded(text)).hexdigest() for text in texts]


def _coded(text: str) -> bytes:
    # Half a surrogate pair is refused where the request is sent, not where it is measured.
    return text.encode(errors="surrogatepass")
