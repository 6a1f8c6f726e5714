"""Beginnings of words: of languages whose words have forms, and of no others."""

from __future__ import annotations

import pytest

from dcf.search import beginnings, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Die Kontinente und die Kontinentalplatten", "kontiˑ kontiˑ"),
        ("¿Quién cuida el jardín?", "quiénˑ cuidaˑ jardíˑ"),
        ("Kitaplarımızdan biri nerede?", "kitapˑ neredˑ"),
        ("velosiped велосипеды", "велосˑ"),
        ("στα λιμάνια", "λιμανˑ"),
        ("किसानों ने", "किसानˑ"),
        ("المهندسون", "مهندسˑ"),
        ("der Rechner Z3000x und v2024beta", "rechnˑ"),
    ],
)
def test_longer_words_begin_with_five_letters(text: str, found: str) -> None:
    assert beginnings(words(text)) == found.split()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "What does the continental breakfast cost in Los Angeles?",
        "deploy staging rollback",
        "The café was closed on Wednesday",
        "Những người bạn của tôi thường nghiêng về phía biển",
        "東京都の図書館",
        "เมื่อวานเรากินข้าวที่กรุงเทพ",
        "ភាសាខ្មែរ",
        "한국어 도서관",
    ],
)
def test_english_and_words_of_one_form_have_none(text: str) -> None:
    assert beginnings(words(text)) == []


def test_a_question_of_names_may_be_of_any_language() -> None:
    assert beginnings(words("Orchideen Hamburg")) == []
    assert beginnings(words("Orchideen Hamburg"), in_doubt=True) == ["orchiˑ", "hambuˑ"]
    assert beginnings(words("Was the hotel in Hamburg?"), in_doubt=True) == []
