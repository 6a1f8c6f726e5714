"""Hosts and origins are read by their grammar, and by nothing that accepts more."""

from __future__ import annotations

import ipaddress
import re
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dcf.tools.serving import is_loopback
from dcf.tools.serving.authority import Authority, Origin

LABELS = st.text(string.ascii_lowercase + string.digits + "-_", min_size=1, max_size=12)
NAMES = st.lists(LABELS, min_size=1, max_size=4).map(".".join).map(lambda name: "a" + name + "z")
HOSTS = (
    st.tuples(NAMES).map(lambda one: (one[0], one[0]))
    | st.ip_addresses(v=4).map(lambda one: (str(one), str(one)))
    | st.ip_addresses(v=6).map(lambda one: (str(one), f"[{one}]"))
    | st.ip_addresses(v=6).map(lambda one: (str(one), f"[{one.exploded}]"))
)
PORTS = st.none() | st.integers(0, 65_535)
# What tells one part of a URL from another, is not printed, or looks like something else.
ODD = st.sampled_from("@:/?#[]%\\ \t\r\n\0,.;*\u0661\uff11\u3002\u2024\u00adx1")
LOOPBACK = re.compile(
    r"(?:localhost\.?|127(?:\.[0-9]{1,3}){3}|\[(?P<six>[0-9a-f:.]+)\])(?::[0-9]{0,5})?",
    re.IGNORECASE | re.ASCII,
)


@given(host=HOSTS, port=PORTS, loud=st.booleans())
def test_what_matches_the_grammar_is_read_as_it_was_written(
    host: tuple[str, str], port: int | None, loud: bool
) -> None:
    name, text = host
    given_ = text if port is None else f"{text}:{port}"
    expected = Authority(name, port)
    assert Authority.parse(given_.upper() if loud else given_) == expected
    assert expected.is_one_of([given_]) and expected.is_one_of([f"{text}:*"])
    other = f"{text}:{(port or 0) ^ 1}"
    assert not expected.is_one_of([other, f"x{name}", f"{name}.x:*"])
    assert Origin.parse(f"HTTP://{given_}") == Origin("http", expected)


@st.composite
def almost(draw: st.DrawFn) -> str:
    """A good header of this machine with a few odd characters in it, before it or behind it."""
    text = draw(st.sampled_from(["localhost", "localhost:80", "127.0.0.1", "[::1]:80", "[::1]"]))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        odd = draw(st.text(ODD, max_size=2) | st.sampled_from(["evil.com", "evil.com:80", "80"]))
        text = text[:at] + odd + text[at:]
    return text


@given(text=almost() | st.text())
@example("evil:80@127.0.0.1")
@example("127.0.0.1\n")
def test_only_a_name_of_this_machine_and_a_port_names_this_machine(text: str) -> None:
    found = Authority.parse(text)
    if found is None or not is_loopback(found.host):
        return
    match = LOOPBACK.fullmatch(text)
    assert match is not None
    assert not match["six"] or ipaddress.IPv6Address(match["six"]).is_loopback


@pytest.mark.parametrize("values", [[], ["localhost", "localhost"], ["localhost", "evil.com"]])
def test_a_request_has_one_host(values: list[str]) -> None:
    assert Authority.of_headers(values) is None
    assert Authority.of_headers(["localhost:80"]) == Authority("localhost", 80)


@pytest.mark.parametrize(
    "text",
    [
        "null",
        "",
        "localhost",
        "http://",
        "http://localhost/",
        "http://evil@localhost",
        "http://localhost:80:80",
        "http://[::1",
        "http://localhost, http://evil.com",
    ],
)
def test_what_is_no_origin_is_none(text: str) -> None:
    assert Origin.parse(text) is None


def test_an_allowed_origin_is_one_of_its_scheme_host_and_port() -> None:
    page = Origin("https", Authority("a.example", 8080))
    assert page.is_one_of(["https://a.example:8080"])
    assert page.is_one_of(["HTTPS://A.example:*"])
    refused = ["http://a.example:8080", "https://a.example", "a.example:*", "https://b.a.example:*"]
    assert not page.is_one_of(refused)
