"""Names of programs, in their parts and in questions."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from dcf.code.identifiers import asked_names, told
from dcf.search import words


def test_a_name_of_several_parts_is_found_whole_and_in_parts() -> None:
    assert told("chargePayment").split() == ["chargePayment", "charge", "Payment"]
    assert told("order_id").split() == ["order_id", "order", "id"]
    assert told("HTTPServer").split() == ["HTTPServer", "HTTP", "Server"]
    assert told("plain") == "plain"


def test_a_question_has_the_names_that_are_written_as_programs_write_them() -> None:
    text = "Where does chargePayment call `refund` or Basket.add, e.g. in max_size or run(x)?"
    assert asked_names(text) == ("chargePayment", "refund", "Basket", "add", "max_size", "run")


def test_ordinary_words_are_no_names() -> None:
    assert asked_names("Which function reads the file. It is the NASA one, i.e. this") == ()


@example("_0\U0003d000")
@example("Ø²")
@example("_A\xadA")
@given(st.text(max_size=200))
def test_all_that_was_said_is_still_there(text: str) -> None:
    assert set(words(text)) <= set(words(told(text)))
