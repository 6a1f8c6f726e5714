"""Secrets in free text are found by their look and their name; what is said about them stays."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.secret_form import is_credential, without_credentials, without_secrets

# What stands behind the key is made up; its form is the maker's.
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0B\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # By the name that the value is given to.
        ("client_secret=abcd1234efgh", "client_secret=#"),
        ("access_token: abcdefgh1234", "access_token: #"),
        ("{'refresh_token': 'abcdefghij'}", "{'refresh_token': '#'}"),
        ('{"clientSecret":"a b, c"}', '{"clientSecret":"#"}'),
        (r"said {\"password\": \"abc def\"}", r"said {\"password\": \"#\"}"),
        ("DB_PASSWORD=hunter2hunter2", "DB_PASSWORD=#"),
        ("DB_PASSWORD_2=hunter2hunter2", "DB_PASSWORD_2=#"),
        ("PGPASSWORD=hunter2 psql", "PGPASSWORD=# psql"),
        ("aws_secret_access_key=wJalr/K7MDENG/bPxRfiCY", "aws_secret_access_key=#"),
        ("SECRET_KEY_BASE=0a1b2c3d", "SECRET_KEY_BASE=#"),
        ("AccountKey=abcdefghijkl==;Endpoint=x", "AccountKey=#;Endpoint=x"),
        ("AccountKey=/bcd/fgh+jkl==;Endpoint=x", "AccountKey=#;Endpoint=x"),
        ("X-API-Key: 0123456789abcdef", "X-API-Key: #"),
        ("api key: 0123456789", "api key: #"),
        ("password: abc", "password: #"),
        ('password: "correct horse"', 'password: "#"'),
        ("password='unclosed", "password='#"),
        ("Password => Tr0ub4dor&3, retry", "Password => #, retry"),
        ("password=ab<cd>ef", "password=#"),
        ("password: no-one-knows", "password: #"),
        ("pwd=hunter2hunter", "pwd=#"),
        ("passphrase: correcthorse", "passphrase: #"),
        ("cvv: 123", "cvv: #"),
        ("<ns:password>hunter2</ns:password>", "<ns:password>#</ns:password>"),
        ("run --db-password hunter2 now", "run --db-password # now"),
        ("Cookie: session=abcdef123456; id=7", "Cookie: #"),
        ("'Set-Cookie': 'sid=abc; Path=/'", "'Set-Cookie': '#'"),
        ("Authorization: Bearer abcdefghijkl", "Authorization: #"),
        ("authorization=0123456789abcdef", "authorization=#"),
        ("https://h/b?sv=1&sig=a%2Fb%3D&se=2", "https://h/b?sv=1&sig=#&se=2"),
        ("https://h/?X-Amz-Signature=0a1b2c", "https://h/?X-Amz-Signature=#"),
        # By their look.
        ("Bearer abcdef0123456789", "#"),
        ("Bearer abcdefghijkl", "#"),
        ("Basic dXNlcjpwYXNz", "#"),
        ("redis://user:pa55word@host:6379/0", "redis://#@host:6379/0"),
        (f"key {KEY} end", "key # end"),
        (f"key {KEY[:50]}", "key #"),
        ("eyJhbGciOiJIUzI1.eyJzdWIiOiIx.abc-123", "#"),
        ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "#"),
        ("glpat-abcdefghij0123456789", "#"),
        ("ghp_abcdefghij0123456789", "#"),
        ("sk_live_abcdefghijklmnop", "#"),
        ("sk-ant-api03-abcd-efgh-ijkl", "#"),
        ("AKIAIOSFODNN7EXAMPLE", "#"),
    ],
)
def test_a_secret_is_taken_out(text: str, expected: str) -> None:
    assert without_secrets(text, "#") == expected


@pytest.mark.parametrize(
    "text",
    [
        "used 1200 tokens of 4000, total_tokens=1200, max_tokens: 4096",
        "prompt tokens: 100, completion tokens: 20",
        "keys: name, id, amount",
        "key=order_id, primary_key=5, idempotency_key=pay-7, sort key: date",
        "the API keys are rotated monthly; no passwords are kept",
        "token: expired",
        "the token was refused: it is missing",
        "access_token: not given",
        "password: must have a digit",
        "password: 'required'",
        "client_secret=null",
        "unexpected token: IDENTIFIER",
        "token_type: bearer, password_reset: true, secret_name: payments",
        "basic authentication and bearer authentication are offered",
        "Authorization: Bearer authentication is required",
        "authorization: two persons",
        "cookies: none were sent",
        "author: Ann wrote the keyboard: layout",
        "password=${DB_PASSWORD} token=$TOKEN secret: <your secret>",
        "PWD=/home/ann/project",
        "the --password option is missing; --token is required",
        "password=[secret DB_PASSWORD] token: [token]",
        "the glass-house-of-many-colours is at https://host:8080/a?key=order",
        "the secret of the public key and of a token bucket",
    ],
)
def test_what_is_said_about_secrets_stays(text: str) -> None:
    assert without_secrets(text, "#") == text


def test_values_by_name_are_not_judged_where_only_looks_count() -> None:
    assert without_credentials("password=hunter2, AKIAIOSFODNN7EXAMPLE", "#") == (
        "password=hunter2, #"
    )
    assert is_credential(KEY)
    assert not is_credential("password=hunter2")


@given(st.text(max_size=200))
def test_taking_out_twice_is_taking_out_once(text: str) -> None:
    once = without_secrets(text, "[token]")
    assert without_secrets(once, "[token]") == once


@pytest.mark.parametrize(
    "text",
    [
        "password" * 2_500,
        "password='" * 2_000,
        "sk-a-" * 4_000,
        "-----BEGIN PRIVATE KEY" * 900,
        "https://" * 2_500,
        "--a" * 6_600,
        "<a" * 10_000,
        "eyJaaaaaaaaa" * 1_600,
        "bearer " * 2_800,
        "gh" + "a_" * 10_000,
        "x-" * 10_000,
        "a.b." * 5_000,
    ],
)
def test_no_text_takes_long(text: str) -> None:
    began = time.process_time()
    without_secrets(text, "#")
    assert time.process_time() - began < 1
