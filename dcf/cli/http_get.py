"""Asking a local server over HTTP, without the weight of a client library."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from typing import Any

_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


async def get_json(url: str, *, timeout_s: float = 2.0) -> Any:
    """The JSON document at ``url``, None when nobody answers with one. Proxies are passed by."""
    return await asyncio.to_thread(_get, url, timeout_s)


def _get(url: str, timeout_s: float) -> Any:
    try:
        with _DIRECT.open(url, timeout=timeout_s) as response:
            return json.load(response)
    except (OSError, ValueError):
        # urllib's errors are OSErrors; ValueError: what answered does not speak JSON.
        return None
