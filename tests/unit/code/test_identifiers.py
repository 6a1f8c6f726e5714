"""Names of programs, in their parts and in questions."""

from __future__ import annotations

import re

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


ONE_LOOK = re.compile(
    r"[^\W\d]\w*(?=\()|\w*[a-z0-9][A-Z]\w*|[A-Z]{2,}[a-z]\w*|\w*[^\W_]_+[^\W_]\w*"
)
"""What no word of a language looks like, in one expression: it is plain, and takes the square of
the time. No dot, backquote or end of a sentence is in what it is compared on."""
PARTS = st.sampled_from(["a", "bc", "Z", "AB", "é", "É", "1", "²", "٣", "_", "__", "(", ")", " "])


@example(["x" * 97, "AB", "c"])
@example(["1", "AB", "c", "("])
@example(["²", "AB", "c", "("])
@given(st.lists(PARTS, max_size=50))
def test_names_are_those_of_one_look_at_all_signs(parts: list[str]) -> None:
    question = "".join(parts)
    every = dict.fromkeys(found[0] for found in ONE_LOOK.finditer(question))
    assert asked_names(question) == tuple(one for one in every if 3 <= len(one) <= 100)[:16]
