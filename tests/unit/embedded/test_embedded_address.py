"""A URL can be shown to anybody once its credentials are out of it."""

from __future__ import annotations

from string import ascii_letters, digits
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from control_plane.embedded import Address, redact

PLACES = "redis://me@localhost:6379/0 127.0.0.1 [::1] redis.example"
SECRETS = st.text(min_size=4).filter(lambda text: text.isprintable() and text not in PLACES)
HOSTS = st.sampled_from(["localhost", "127.0.0.1", "[::1]", "redis.example"])


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://localhost:6379/0", "redis://localhost:6379/0"),
        ("redis://:pw@localhost:6379/0", "redis://localhost:6379/0"),
        ("rediss://me:pw@host/3", "rediss://host/3"),
        ("redis://me:pw@[::1]:6380/1", "redis://[::1]:6380/1"),
        ("unix:///run/dcf/redis.sock?db=2", "unix:///run/dcf/redis.sock?db=2"),
        ("unix://me@/run/r.sock?db=2&password=pw", "unix:///run/r.sock?db=2"),
        ("redis://h/0?password=pw", "redis://h/0"),
        ("redis://me:pw@host:nonsense/0", "redis://…"),
        ("redis://me:12/34@host:6379/0", "redis://…"),
        ("redis://me:12?34@host:6379/0", "redis://…"),
        ("redis://me:12#34@host:6379/0", "redis://…"),
        ("pw", "…"),
        ("", "…"),
    ],
)
def test_only_the_place_is_shown(url: str, shown: str) -> None:
    assert redact(url) == shown


@given(SECRETS, HOSTS, st.text(ascii_letters + digits, max_size=8))
def test_a_quoted_password_is_never_shown(secret: str, host: str, user: str) -> None:
    url = f"redis://{user}:{quote(secret, safe='')}@{host}:6379/0"
    assert quote(secret, safe="") not in redact(url)
    assert secret not in redact(url)


@given(SECRETS)
def test_a_password_that_breaks_the_url_is_not_shown_either(secret: str) -> None:
    """People forget to quote: '/', '#', '?' and ':' in a password tear the URL apart."""
    assert secret not in redact(f"redis://me:{secret}@localhost:6379/0")


def test_an_address_shows_its_place_and_keeps_its_url() -> None:
    address = Address("redis://:pw@127.0.0.1:7000/0", "embedded")
    assert str(address) == "redis://127.0.0.1:7000/0"
    assert "pw" not in repr(address)
    assert address.url == "redis://:pw@127.0.0.1:7000/0"
