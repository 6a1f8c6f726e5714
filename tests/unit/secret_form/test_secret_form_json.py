"""JSON stays JSON whatever its texts are, and texts that were cut keep nothing of a secret."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.secret_form import (
    marked,
    value_without_secrets,
    without_credentials,
    without_secrets,
)

# Names, separators, quotes and secrets, which meet in every way.
_MARKS = (
    "password", "token", "api_key", "secret", "=", ":", "=>", '"', "'", "\\", "\\n", '\\"', "{",
    "}", "[", "]", ",", "&", "/", "--", "Bearer ", "Cookie:", "é", "None", " ", "12345", "<token>",
    "</token>", '"name":"password"', '"value":', "name", "value", "<key>", "</key><string>",
)  # fmt: skip
_SECRETS = (
    "hunter2", "AKIAIOSFODNN7EXAMPLE", "ghp_abcdefghij0123456789", "https://ann:pa55word@host",
    "eyJhbGciOiJI.eyJzdWIi",
)  # fmt: skip
_PIECES = st.sampled_from(_MARKS + _SECRETS)
_TEXTS = st.lists(_PIECES, max_size=10).map("".join) | st.text(max_size=20)
_JSON = st.recursive(
    _TEXTS | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(_TEXTS, inner, max_size=3)
        | inner.map(json.dumps)
    ),
    max_leaves=8,
)


@given(_JSON, st.sampled_from([None, 1]), st.booleans())
def test_json_stays_json_and_is_cleaned_once(
    value: object, indent: int | None, ascii: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii)
    once = without_secrets(text)
    assert type(json.loads(once)) is type(value) or isinstance(value, (int, float))
    assert without_secrets(once) == once
    json.loads(without_credentials(text))


@given(_TEXTS)
def test_any_text_is_cleaned_once(text: str) -> None:
    once = without_secrets(text)
    assert without_secrets(once) == once


@given(st.lists(st.sampled_from(["order", "shipped", "three", "boxes", "to", "Oslo", "paid"])))
def test_ordinary_words_stay(words: list[str]) -> None:
    assert without_secrets(" ".join(words)) == " ".join(words)


def test_json_is_kept_as_it_is_written() -> None:
    text = '{"b" : 1.50,\n "password":12345, "a": ["\\u00e9", {"token" :"t0psecret"} ], "c":"d"}'
    assert without_secrets(text) == (
        '{"b" : 1.50,\n "password":"[redacted: password]", "a": ["\\u00e9", '
        '{"token" :"[redacted: token]"} ], "c":"d"}'
    )


def test_a_text_of_several_lines_leaves_what_follows_on_its_line() -> None:
    """JSON allows none, but some write them, and is read as they mean it."""
    text = '{"password": "hunter22\nhunter22",\n "a": 1}'
    kept = without_secrets(text, keep_lines=True)
    assert kept == '{"password": "[redacted: password]"\n,\n "a": 1}'


def test_each_document_of_json_lines_stays_json() -> None:
    text = '{"log": "secret = "}\n{"cvv": 123}\n'
    assert without_secrets(text) == f'{{"log": "secret = "}}\n{{"cvv": "{marked("card code")}"}}\n'


@pytest.mark.parametrize(
    "text",
    [
        "ghp" + "_abc123",
        "ghp" + "_abc123…",
        "sk-" + "ant-api0...",
        "postgres://ann:hunt",
        "npm" + "_abcd\n",
    ],
)
def test_what_is_left_of_a_secret_where_a_text_was_cut_is_taken_out(text: str) -> None:
    cleaned = without_secrets(f"then {text}")
    assert "[redacted: " in cleaned and not any(part in cleaned for part in ("abc", "hunt", "api0"))


@pytest.mark.parametrize("name", ["npm_requirements", "sk-learn", "glpat-names", "hf_home"])
def test_the_name_of_a_member_is_no_text_that_was_cut(name: str) -> None:
    written = json.dumps({"path": "C:\\x", name: [{name: 1}]})
    assert without_secrets(written) == written
    assert value_without_secrets(json.loads(written)) == json.loads(written)
    whole = "npm" + "_" + "aB3dE6gH9kL2nP5rS8uV1xY4zA7cD0fG3iJ6"
    assert whole not in without_secrets(json.dumps({whole: {"a": 1}}))


@pytest.mark.parametrize(
    "text",
    [
        "self.token = self.scanner.peek_token()",
        "connect(user, password=db_password, token=args.token)",
        'api_key = os.environ["API_KEY"]',
        "def login(self, password: str | None = None, token: TokenReader) -> None:",
        "password = getpass.getpass()",
    ],
)
def test_source_that_names_a_secret_stays(text: str) -> None:
    assert without_secrets(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('password: str = "hunter2"', 'password: str = "#"'),
        ("password = b'hunter2'", "password = b'#'"),
        ('{"password": "ab\\"cd", broken', '{"password": "#", broken'),
        ("password:\n  hunter2\nuser: ann", "password:\n  #\nuser: ann"),
        ("user=ann&password=hunter2&next=home", "user=ann&password=#&next=home"),
        ("curl -u ann:hunter2 https://h", "curl -u ann:# https://h"),
        ('["--password", "hunter2"], 7', '["--password", "#"], 7'),
    ],
)
def test_a_secret_is_taken_out_of_source_and_forms(text: str, expected: str) -> None:
    assert without_secrets(text, "#") == expected
