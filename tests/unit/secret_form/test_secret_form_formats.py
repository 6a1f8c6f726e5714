"""Ten secrets of each of sixty formats: nothing of them is left, what stands around them is."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from secret_samples import Sample, samples

from dcf.secret_form import marked, value_without_secrets, without_secrets

EACH = 10
SAMPLES = samples(seed=8, each=EACH)
PIECE = 9
"""So many characters of a secret in a row are a part of it: shorter ones may be a word."""


def in_prose(text: str) -> str:
    return f"Before the release Ann wrote {text} and then left."


def in_lines(text: str) -> str:
    return f"REGION=eu-west-1\n{text}\nLEVEL=info\n"


def in_log(text: str) -> str:
    return f'2026-11-24T10:00:00Z WARN shop.pay: "retry {text} after 3 tries" host=web-1\n'


def in_list(text: str) -> str:
    return f"- first\n- `{text}`\n- **last**\n"


def in_json(text: str) -> str:
    return json.dumps({"before": 1, "log": f"at é {text}", "after": ["kept", None]}, indent=2)


def in_nested_json(text: str) -> str:
    return json.dumps({"body": json.dumps({"log": [f"line\n{text}\nline"]}), "after": "kept"})


@pytest.mark.parametrize("place", [str, in_prose, in_lines, in_log, in_list])
def test_nothing_of_a_secret_is_left_in_a_text(place: Callable[[str], str]) -> None:
    left = [one for one in SAMPLES if is_left(one, without_secrets(place(one.text)))]
    assert left == []


@pytest.mark.parametrize("place", [in_json, in_nested_json])
def test_nothing_of_a_secret_is_left_in_json_which_stays_json(place: Callable[[str], str]) -> None:
    cleaned = [(one, without_secrets(place(one.text))) for one in SAMPLES]
    assert [one for one, text in cleaned if is_left(one, text)] == []
    assert [one for one, text in cleaned if json.loads(text).keys() < {"after"}] == []


def test_nothing_of_a_secret_is_left_in_values() -> None:
    for one in SAMPLES:
        value = {"before": [one.text, 1], one.text: {"log": in_prose(one.text)}, "after": True}
        cleaned = value_without_secrets(value)
        assert not is_left(one, json.dumps(cleaned)), one
        assert cleaned["before"][1] == 1 and cleaned["after"] is True


@pytest.mark.parametrize(
    ("place", "begin", "end"),
    [
        (in_prose, "Before the release Ann wrote ", " and then left."),
        (in_lines, "REGION=eu-west-1\n", "\nLEVEL=info\n"),
        (in_log, '2026-11-24T10:00:00Z WARN shop.pay: "retry ', ' after 3 tries" host=web-1\n'),
        (in_list, "- first\n- ", "\n- **last**\n"),
    ],
)
def test_what_stands_around_a_secret_stays(
    place: Callable[[str], str], begin: str, end: str
) -> None:
    for one in SAMPLES:
        cleaned = without_secrets(place(one.text))
        assert cleaned.startswith(begin) and cleaned.endswith(end), one


def test_taking_out_twice_is_taking_out_once() -> None:
    for one in SAMPLES:
        once = without_secrets(in_log(one.text))
        assert without_secrets(once) == once


def test_what_is_put_in_its_place_says_what_it_was() -> None:
    by_format = {one.format: without_secrets(one.text) for one in SAMPLES}
    assert by_format["github classic"] == marked("github token")
    assert by_format["aws key pair"] == marked("aws key")
    assert by_format["ec private key"] == "[redacted: private key]"
    assert by_format["password"] == "DB_PASSWORD=[redacted: password]"
    assert by_format["redis address"] == (
        "redis://[redacted: user of an address]@cache.example:6379/0"
    )
    assert by_format["query of an address"] == (
        "https://h.example/a?access_token=[redacted: token]&page=2"
    )


def is_left(sample: Sample, text: str) -> bool:
    """Whether a part of the secret is in ``text``, as it is or as JSON writes it."""
    forms = (sample.secret, json.dumps(sample.secret)[1:-1])
    return any(
        form[at : at + PIECE] in text
        for form in forms
        for at in range(max(1, len(form) - PIECE + 1))
    )
