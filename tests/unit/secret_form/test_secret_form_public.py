"""Examples of what others write of a hundred formats, in all places: nothing of them is left."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import quote

import pytest
from public_formats import PUBLIC_FORMATS, Example, examples

from dcf.secret_form import value_without_secrets, without_secrets
from tests.campaigns import campaign


def in_prose(text: str) -> str:
    return f"Use {text} until Monday, said Ann."


def in_json(text: str) -> str:
    return json.dumps({"id": 7, "note": f"it is {text} now", "more": [text]})


def in_json_within_json(text: str) -> str:
    return json.dumps({"body": json.dumps({"note": text})})


def in_an_address(text: str) -> str:
    return f"see https://api.example/v1/items?page=2&q={quote(text, safe='')}&limit=5 for more"


def in_an_env_file(text: str) -> str:
    return f"# settings\nexport LEVEL=info\nVALUE={text}\nOTHER=1\n"


def in_a_shell_line(text: str) -> str:
    return f"$ curl -s -X POST --data '{text}' https://api.example/v1/items | jq ."


def in_a_header(text: str) -> str:
    return f"POST /v1 HTTP/1.1\r\nHost: api.example\r\nX-Shop: {text}\r\nAccept: */*\r\n\r\n"


PLACES = [
    in_prose,
    in_json,
    in_json_within_json,
    in_an_address,
    in_an_env_file,
    in_a_shell_line,
    in_a_header,
]


def left(one: Example, text: str) -> bool:
    """Whether most of what chance made is still there."""
    half = max(12, len(one.drawn) // 2)
    pieces = (one.drawn[at : at + half] for at in range(len(one.drawn) - half + 1))
    return any(piece in text or quote(piece, safe="") in text for piece in pieces)


def test_there_are_sixty_makers() -> None:
    assert len({maker for maker, *_ in PUBLIC_FORMATS}) >= 60
    assert all(source for *_, source in PUBLIC_FORMATS)


@campaign(20)
@pytest.mark.parametrize("place", PLACES)
def test_nothing_is_left(share: int, place: Callable[[str], str]) -> None:
    # Nobody puts the lines of a file into an address.
    made = [one for one in examples(share, 2) if place is not in_an_address or "\n" not in one.text]
    assert [one for one in made if left(one, without_secrets(place(one.text)))] == []


def test_nothing_is_left_in_values_and_their_names() -> None:
    for one in examples(7):
        cleaned = value_without_secrets({"a": [one.text], one.text: 1})
        assert not left(one, json.dumps(cleaned)), one


def test_taking_out_twice_is_taking_out_once() -> None:
    for one in examples(8):
        for place in PLACES:
            once = without_secrets(place(one.text))
            assert without_secrets(once) == once, one
