"""Who is let in."""

from __future__ import annotations

import json

import pytest
from starlette.datastructures import Headers

from dcf.tools.serving import CannotServe, Guard, check_exposure, is_loopback

EVIL = [
    "",
    "[",
    "[]",
    ".",
    "evil:80@127.0.0.1",
    "evil@127.0.0.1",
    "@localhost",
    "localhost@",
    "127.0.0.1.evil.com",
    "localhost.evil.com:80",
    "localhost:80:80",
    "localhost:80 ",
    " localhost",
    "local\thost",
    "localhost\t",
    "localhost\n",
    "localhost:80\r",
    "localhost evil.com",
    "localhost,evil.com",
    "localhost, localhost",
    "%6cocalhost",
    "localhost%00",
    "127.0.0.1%2eevil.com",
    "[::1%25lo]",
    "[::1%lo]",
    "[::1",
    "::1",
    "[::1]evil.com",
    "[::1].evil.com:80",
    "evil.com[::1]",
    "[127.0.0.1]",
    "[v1.localhost]",
    "localhost/",
    "localhost?",
    "evil.com#@localhost",
    "evil.com\\@localhost",
    "http://localhost",
    "//localhost",
    "127.0.0.\u0661",
    "127.0.0.\xb9",
    "127.0.0.1:\u0668\u0660",
    "\uff4cocalhost",
    "127\u30020\u30020\u30021",
    "127.0.0.1.",
    "127.1",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "2130706433",
    "localhost..",
    "localhost:-1",
    "localhost:+80",
    "localhost:0x50",
    "localhost:65536",
    "localhost:000080",
    "localhost:*",
]
"""None of these names this machine; most are what some parser of URLs takes for it."""


def status(guard: Guard, path: str = "/mcp", **headers: str) -> int:
    given = Headers({"host": "127.0.0.1:8337"} | headers)
    refusal = guard.refusal(given, path)
    return 200 if refusal is None else refusal.status_code


@pytest.mark.parametrize(
    ("guard", "headers", "code", "mends"),
    [
        (Guard(), {"host": "evil.example"}, "host_not_allowed", "DCF_MCP_ALLOWED_HOSTS"),
        (Guard(), {"origin": "https://evil.example"}, "origin_not_allowed", "ALLOWED_ORIGINS"),
        (Guard(token="t"), {}, "token_required", "Authorization: Bearer"),
        (Guard(token="t"), {"authorization": "Bearer evil"}, "token_required", "Bearer"),
    ],
)
def test_a_refusal_says_in_one_sentence_what_was_refused_why_and_how_to_mend_it(
    guard: Guard, headers: dict[str, str], code: str, mends: str
) -> None:
    refusal = guard.refusal(Headers({"host": "127.0.0.1:8337"} | headers), "/mcp")
    assert refusal is not None
    answer = json.loads(bytes(refusal.body))
    assert answer["code"] == code
    assert answer["error"].startswith("the request was refused: ") and mends in answer["error"]
    assert "\n" not in answer["error"] and "evil" not in answer["error"]


@pytest.mark.parametrize(
    ("host", "wanted"),
    [
        ("127.0.0.1", 200),
        ("127.0.0.1:1", 200),
        ("localhost:8337", 200),
        ("[::1]:8337", 200),
        ("127.9.9.9", 200),
        ("example.org", 421),
        ("localhost.example.org", 421),
        ("example.org:8337#@localhost", 421),
        ("192.168.1.2", 421),
        ("LocalHost:8337", 200),
        ("localhost.", 200),
        ("localhost:", 200),
        ("[0:0:0:0:0:0:0:1]", 200),
        *((evil, 421) for evil in EVIL),
    ],
)
def test_on_loopback_only_its_names_are_answered(host: str, wanted: int) -> None:
    # As a server decodes what stood on the wire.
    assert status(Guard(), host=host.encode().decode("latin-1")) == wanted


def test_the_guard_can_be_switched_off_and_named_exceptions_made() -> None:
    off = Guard.from_env({"DCF_MCP_ENABLE_DNS_REBINDING_PROTECTION": "False"}, "127.0.0.1", None)
    assert status(off, host="example.org", origin="https://example.org") == 200
    env = {"DCF_MCP_ALLOWED_HOSTS": "a.example, b.example:*"}
    named = Guard.from_env(env, "127.0.0.1", None)
    assert status(named, host="a.example") == 200
    assert status(named, host="a.example:1") == 421
    assert status(named, host="b.example:1") == 200
    assert status(named, host="b.example") == 200
    assert status(named, host="b.example.org:1") == 421


@pytest.mark.parametrize(
    ("origin", "wanted"),
    [
        ("http://127.0.0.1:8337", 200),
        ("https://127.0.0.1:8337", 200),
        ("http://127.0.0.1:9999", 403),
        ("http://localhost:8337", 403),
        ("http://127.0.0.1", 403),
        ("http://[", 403),
        ("null", 403),
        ("", 403),
    ],
)
def test_another_page_of_this_machine_is_a_foreign_page(origin: str, wanted: int) -> None:
    assert status(Guard(), origin=origin) == wanted
    assert status(Guard.asking(None), origin=origin) == wanted


def test_pages_that_are_named_may_ask() -> None:
    env = {"DCF_MCP_ALLOWED_ORIGINS": "http://localhost:3000, http://127.0.0.1:*"}
    named = Guard.from_env(env, "127.0.0.1", None)
    assert status(named, origin="http://localhost:3000") == 200
    assert status(named, origin="http://127.0.0.1:9999") == 200
    assert status(named, origin="http://localhost:3001") == 403


def test_off_loopback_the_token_decides() -> None:
    guard = Guard.from_env({}, "0.0.0.0", "t")
    good = {"authorization": "Bearer t"}
    assert status(guard, host="any.example", **good) == 200
    assert status(guard, host="any.example") == 401
    # RFC 9110 11.1: the scheme is case-insensitive.
    assert status(guard, authorization="bearer t") == 200
    assert status(guard, authorization="Basic t") == 401
    assert status(guard, authorization="t") == 401
    assert status(guard, authorization="Bearer T") == 401
    assert status(guard, authorization="Bearer té") == 401
    assert status(guard, authorization="Bearer ") == 401
    assert status(guard, origin="https://evil.example", **good) == 403
    assert status(guard, path="/healthz") == 200
    assert "t" not in repr(guard).replace("token", "").split("Guard(")[1].split(",")[0]


def test_a_token_is_asked_for_on_loopback_too_where_there_is_one() -> None:
    assert status(Guard(token="t")) == 401


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "example.org", ""])
def test_nothing_is_served_off_loopback_without_a_token(host: str) -> None:
    assert not is_loopback(host)
    with pytest.raises(CannotServe):
        check_exposure(host, None)
    with pytest.raises(CannotServe):
        check_exposure(host, "")
    for weak in ("short", "fifteen-letters", "x" * 32):
        with pytest.raises(CannotServe) as refused:
            check_exposure(host, weak)
        assert "openssl rand -hex 32" in refused.value.hint and weak not in str(refused.value)
        check_exposure("127.0.0.1", weak)
    check_exposure(host, "sixteen-letters!")
    check_exposure("127.0.0.1", None)


def test_two_hosts_are_none_and_every_origin_has_to_be_allowed() -> None:
    def answered(*pairs: tuple[str, str]) -> int:
        raw = [(name.encode(), value.encode()) for name, value in pairs]
        refusal = Guard().refusal(Headers(raw=raw), "/mcp")
        return 200 if refusal is None else refusal.status_code

    assert answered(("host", "localhost:80")) == 200
    assert answered(("host", "localhost:80"), ("host", "evil.com")) == 421
    assert answered(("host", "localhost:80"), ("host", "localhost:80")) == 421
    own = ("origin", "http://localhost:80")
    assert answered(("host", "localhost:80"), own) == 200
    assert answered(("host", "localhost:80"), own, ("origin", "http://evil.com")) == 403
