"""Where addresses belong, and that a name cannot lead elsewhere."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from dcf.tools import EgressRules, ServerConfig
from dcf.tools.checked_addresses import CheckedAddresses


@pytest.mark.parametrize(
    ("host", "level"),
    [
        ("127.0.0.1", "none"),
        ("127.9.9.9", "none"),
        ("[::1]", "none"),
        ("[::ffff:127.0.0.1]", "none"),
        ("localhost", "none"),
        ("LocalHost.", "none"),
        ("mcp.localhost", "none"),
        ("10.0.0.1", "intranet"),
        ("172.31.255.255", "intranet"),
        ("172.32.0.1", "internet"),
        ("192.168.1.1", "intranet"),
        ("[fd00::1]", "intranet"),
        ("[fe80::1%25eth0]", "intranet"),
        ("[::ffff:8.8.8.8]", "internet"),
        ("tools.internal", "intranet"),
        ("printer.local", "intranet"),
        ("stub-mcp", "intranet"),
        ("134744072", "internet"),
        ("0x8080808", "internet"),
        ("127.1", "internet"),
        ("localhost.example.com", "internet"),
        ("api.example.com", "internet"),
        ("8.8.8.8", "internet"),
    ],
)
def test_the_level_of_an_address(host: str, level: str) -> None:
    assert EgressRules().reach(ServerConfig("s", url=f"http://{host}:80/mcp")) == level


def test_a_local_program_is_on_this_machine() -> None:
    assert EgressRules().reach(ServerConfig("s", transport="stdio", command="x")) == "none"


def test_a_policy_says_what_the_machine_and_the_intranet_are() -> None:
    rules = EgressRules(machine=("stub-*", "10.9.0.0/16"), intranet=("*.corp.example", "8.0.0.0/8"))
    levels = {host: rules.level(host) for host in ("stub-mcp", "10.9.1.1", "a.corp.example")}
    assert levels == {"stub-mcp": "none", "10.9.1.1": "none", "a.corp.example": "intranet"}
    assert (rules.level("8.8.8.8"), rules.level("10.0.0.1")) == ("intranet", "internet")


class Recording(httpx2.AsyncBaseTransport):
    """Remembers requests; addresses in ``dead`` refuse."""

    def __init__(self, *dead: str) -> None:
        self.dead = dead
        self.seen: list[httpx2.Request] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.seen.append(request)
        if request.url.host in self.dead:
            raise httpx2.ConnectError("refused")
        return httpx2.Response(200)


async def get(url: str, addresses: list[str], inner: Recording, **rules: Any) -> httpx2.Response:
    async def resolve(_host: str) -> list[str]:
        return addresses

    transport = CheckedAddresses(inner, EgressRules(**rules), resolve)
    async with httpx2.AsyncClient(transport=transport) as client:
        return await client.get(url)


async def test_a_near_name_is_connected_to_by_the_address_that_was_checked() -> None:
    inner = Recording()
    await get("https://tools.internal:8443/mcp", ["10.0.0.5"], inner)
    [request] = inner.seen
    assert str(request.url) == "https://10.0.0.5:8443/mcp"
    assert request.headers["host"] == "tools.internal:8443"
    assert request.extensions["sni_hostname"] == "tools.internal"


async def test_the_next_address_of_a_name_is_tried_when_one_refuses() -> None:
    inner = Recording("::1")
    await get("http://localhost:80/", ["::1", "127.0.0.1"], inner)
    assert [request.url.host for request in inner.seen] == ["::1", "127.0.0.1"]


@pytest.mark.parametrize(
    ("host", "address"), [("tools.internal", "8.8.8.8"), ("localhost", "10.0.0.1")]
)
async def test_a_near_name_that_leads_further_away_is_not_connected_to(
    host: str, address: str
) -> None:
    inner = Recording()
    with pytest.raises(httpx2.ConnectError, match=f"{host} is a name of .* leads to {address}"):
        await get(f"http://{host}/", ["127.0.0.1", address], inner)
    assert inner.seen == []


async def test_names_on_the_internet_are_left_to_the_client() -> None:
    inner = Recording()
    await get("http://api.example.com/", [], inner)
    assert inner.seen[0].url.host == "api.example.com"
