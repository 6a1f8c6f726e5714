"""What of an insight is cleaned before it is written."""

from __future__ import annotations

import json

from dcf.knowledge.cleaning import clean_json
from dcf.knowledge.privacy import Privacy


def test_numbers_of_the_evidence_stay_what_they_are() -> None:
    # A hundred times in a row: ten of them have the checksum of a card, whatever they begin with.
    for at in range(4_111_111_111_100, 4_111_111_111_200):
        text = json.dumps({"since": at, "until": at, "rates": [0.25, None, True]})
        assert clean_json(text, Privacy()) == text


def test_strings_inside_are_cleaned_and_it_stays_json() -> None:
    text = json.dumps({"cause": "mail ann@example.org", "runs": ["4111111111111111", 3]})
    cleaned = json.loads(clean_json(text, Privacy()))
    assert cleaned == {"cause": "mail [email]", "runs": ["[card]", 3]}


def test_what_is_no_json_is_cleaned_as_a_whole() -> None:
    assert clean_json("ask ann@example.org", Privacy()) == "ask [email]"
