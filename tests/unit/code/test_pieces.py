"""Files are cut at the borders of functions, and nothing that says something is left out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dcf.code.piece import CodePiece, pieces
from dcf.code.symbols import parsed
from dcf.search import words

LINES = st.sampled_from(
    [
        *("", "x = 1", "class A:", "    y = 2", "    def run(self):", "        return 1"),
        *("def f():", "    return 3", "# about", "@deco", "}", "    class B:", "        z = 5"),
    ]
)


def cut(text: str) -> tuple[CodePiece, ...]:
    return pieces(text, parsed(text, "python").symbols)


def test_a_class_is_cut_into_its_head_its_methods_and_what_is_between() -> None:
    text = (
        "import os\n\nclass A:\n    x = 1\n    def f(self):\n        1\n"
        "    y = 2\n    def g(self):\n        3\n"
    )
    found = [
        (one.first_line, one.last_line, one.symbol.qualified_name if one.symbol else "")
        for one in cut(text)
    ]
    assert found == [(1, 2, ""), (3, 4, "A"), (5, 6, "A.f"), (7, 7, "A"), (8, 9, "A.g")]


def test_a_function_stays_whole_and_names_those_inside() -> None:
    (one,) = cut("def f():\n    def g():\n        pass\n    return g\n")
    assert one.names == ("f", "g")


def test_a_very_long_function_is_cut_at_the_functions_in_it() -> None:
    text = "def f():\n" + "    x = 1\n" * 160 + "    def g():\n        2\n" + "    y = 1\n"
    found = cut(text)
    assert max(one.last_line - one.first_line for one in found) < 150
    assert [one.first_line for one in found if one.symbol and one.symbol.name == "g"] == [162]


@given(st.lists(LINES, max_size=300))
def test_each_line_that_says_something_is_in_one_piece(lines: list[str]) -> None:
    found = cut("\n".join(lines))
    covered = [n for one in found for n in range(one.first_line, one.last_line + 1)]
    assert len(covered) == len(set(covered))
    assert {n for n, line in enumerate(lines, 1) if words(line)} <= set(covered)
    for one in found:
        assert one.text == "\n".join(lines[one.first_line - 1 : one.last_line])


def test_the_newline_at_the_end_of_a_file_begins_no_line() -> None:
    (one,) = pieces("alpha\nbeta\n", ())
    assert (one.first_line, one.last_line, one.text) == (1, 2, "alpha\nbeta")
