"""Task tokens: what somebody outside needs to answer a Task that waits (``.waitForTaskToken``).

A token names one try of one visit of a state and is signed with the secret of its run. It is
derived, so a worker that takes the Task over presents the same token.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import dataclass

from control_plane import JSON

_SIGNATURE_BYTES = 32
_LONGEST = 4096
REDACTED = "[task token]"
WITH_TOKEN = (".waitForTaskToken", ".sync", ".sync:2")
"""How the ``Resource`` of a Task ends that finds a token in its context; the first waits for it."""


@dataclass(frozen=True, slots=True)
class TokenClaim:
    """What a token says; ``signature`` is still to be checked against the run's secret."""

    workflow_id: str
    path: str
    visit: int
    try_: int
    signature: bytes

    def is_signed_with(self, secret: str) -> bool:
        """Whether the run with this secret gave the token out."""
        text = _text(self.workflow_id, self.path, self.visit, self.try_)
        return bool(secret) and hmac.compare_digest(self.signature, _sign(secret, text))


def make_token(secret: str, workflow_id: str, path: str, visit: int, try_: int) -> str:
    """The token of one try of one visit: URL-safe text."""
    text = _text(workflow_id, path, visit, try_)
    return base64.urlsafe_b64encode(text + _sign(secret, text)).rstrip(b"=").decode("ascii")


def read_token(token: str) -> TokenClaim | None:
    """What ``token`` says, or None when it is no token."""
    if len(token) > _LONGEST or not token.isascii():
        return None
    try:
        content = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        claim = json.loads(content[:-_SIGNATURE_BYTES])
    except (binascii.Error, ValueError, RecursionError):
        return None
    if not isinstance(claim, list) or [type(part) for part in claim] != [str, str, int, int]:
        return None
    workflow_id, path, visit, try_ = claim
    return TokenClaim(workflow_id, path, visit, try_, content[-_SIGNATURE_BYTES:])


def without_token(value: JSON, token: str) -> JSON:
    """``value`` as it may be kept: the token is replaced wherever it stands, and where it stands
    encoded nothing is kept."""
    kept = _replaced(value, token)
    return REDACTED if any(_is_encoded_in(text, token) for text in _texts(kept)) else kept


def _replaced(value: JSON, token: str) -> JSON:
    if isinstance(value, str):
        return value.replace(token, REDACTED)
    if isinstance(value, list):
        return [_replaced(item, token) for item in value]
    if isinstance(value, dict):
        return {key.replace(token, REDACTED): _replaced(item, token) for key, item in value.items()}
    return value


def _texts(value: JSON) -> Iterator[str]:
    """Every text in ``value``, member names too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from _texts(item)


def _is_encoded_in(text: str, token: str) -> bool:
    """Whether ``text`` has the Base64 of a text around ``token``, in either alphabet."""
    plain = text.replace("-", "+").replace("_", "/")
    return any(form in plain for form in _base64_forms(token))


def _base64_forms(token: str) -> Iterator[str]:
    """What is the same in the Base64 of every text that ``token`` stands in: one form for each
    place that it can have in a group of three bytes."""
    for before in range(3):
        whole = base64.b64encode(b" " * before + token.encode()).decode()
        first = -(-before * 8 // 6)
        after = (before + len(token)) * 8 // 6
        yield whole[first:after]


def _text(workflow_id: str, path: str, visit: int, try_: int) -> bytes:
    return json.dumps([workflow_id, path, visit, try_], separators=(",", ":")).encode()


def _sign(secret: str, text: bytes) -> bytes:
    return hmac.digest(secret.encode(), text, hashlib.sha256)
