"""Whose certificates count on the way to a tool server."""

from __future__ import annotations

import ssl
from typing import Any

import httpx2
import pytest

from dcf.tools.gate.egress import EgressRules
from dcf.tools.http_transport import http_client
from dcf.tools.server_config import ServerConfig

Verify = ssl.SSLContext | bool


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> list[Verify]:
    """What each transport that was made verifies certificates with."""
    seen: list[Verify] = []
    made = httpx2.AsyncHTTPTransport

    def transport(*, verify: Verify = True, **others: Any) -> httpx2.AsyncHTTPTransport:
        seen.append(verify)
        return made(verify=verify, **others)

    monkeypatch.setattr(httpx2, "AsyncHTTPTransport", transport)
    return seen


def connect(url: str) -> None:
    http_client(ServerConfig("s", "streamable_http", url=url), EgressRules())


@pytest.mark.parametrize("url", ["https://tools.example/mcp", "HTTPS://tools.example/mcp"])
def test_an_encrypted_server_is_checked_as_the_machine_says(
    url: str, verified: list[Verify]
) -> None:
    connect(url)
    assert verified == [True]


def test_behind_a_plain_address_no_certificate_counts_and_no_list_is_read(
    verified: list[Verify], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssl, "create_default_context", lambda: pytest.fail("the list was read"))
    connect("http://127.0.0.1:9/mcp")
    [context] = verified
    assert isinstance(context, ssl.SSLContext)
    # Should it ever lead to an encrypted place: nobody is trusted, rather than everybody.
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname
    assert context.cert_store_stats()["x509_ca"] == 0
