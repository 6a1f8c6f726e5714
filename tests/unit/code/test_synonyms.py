"""What is said for the words of names."""

from __future__ import annotations

from dcf.code.identifiers import synonyms


def test_parts_of_names_are_said_in_full() -> None:
    assert synonyms("initDB").split() == ["initialise", "initialize", "database"]
    assert synonyms("Shop.remove_args").split() == ["delete", "argument"]


def test_other_words_say_only_themselves() -> None:
    assert synonyms("charge_payment Basket") == ""
    assert synonyms("") == ""
