"""What is asked of a search of code."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dcf.code.identifiers import asked_names
from dcf.problem import Problem
from dcf.search import spoken, telling_words, words

MOST_HITS = 100
MOST_TOKENS = 4_000
LONGEST = 100_000
"""Characters of a question."""
_WORDS = 64
"""More words of one question than these say nothing more."""
_SHORTEST_FORM = 3


@dataclass(frozen=True, slots=True)
class CodeQuestion:
    """``limit`` is the most hits, ``tokens`` the most of the text of each. ``paths``: only in these
    files and folders, relative to the root. ``near``: the file that the one who asks has open; its
    own code and that beside it come a little earlier."""

    text: str
    limit: int = 10
    tokens: int = 400
    paths: Sequence[str] = ()
    near: str | None = None

    @property
    def words(self) -> list[str]:
        """The words that are looked for, in small letters, each once; whole names too."""
        asked = [*self.names, *telling_words(spoken(self.text))]
        return list(dict.fromkeys(word.lower() for word in asked))[:_WORDS]

    @property
    def first(self) -> tuple[str, ...]:
        """The first word that is no name, most often a verb, as a name may have it."""
        named = {name.lower() for name in self.names}
        word = next((word for word in self.words if word not in named), "")
        forms = (word, word.removesuffix("s"), word.removesuffix("es"))
        return tuple(form for form in forms if len(form) >= _SHORTEST_FORM)

    @property
    def names(self) -> tuple[str, ...]:
        """What is written as programs write it."""
        return asked_names(self.text)

    @property
    def asks_names(self) -> float:
        """The part of its words that are names or parts of them, from 0 to 1.

        >>> CodeQuestion("chargePayment").asks_names
        1.0
        >>> CodeQuestion("what `refund` does later").asks_names
        0.5
        """
        parts = {part for name in self.names for part in f"{name} {spoken(name)}".lower().split()}
        return sum(word in parts for word in self.words) / len(self.words) if parts else 0.0

    @property
    def folders(self) -> tuple[str, ...]:
        """``paths`` without detours; empty where one is the root itself."""
        plain = [posixpath.normpath(path) for path in self.paths]
        return () if "." in plain else tuple(dict.fromkeys(plain))


def problems_of(question: CodeQuestion) -> Iterator[Problem]:
    """All that is wrong with a question."""
    if len(question.text) > LONGEST:
        message = f"the question has {len(question.text):,} characters, more than {LONGEST:,}"
        yield Problem("code_question_long", message, "/text", "ask for one thing")
    elif not words(question.text):
        message = "the question has no letter and no digit"
        yield Problem("code_question_empty", message, "/text", "say what the code does")
    for name, value, most in (
        ("limit", question.limit, MOST_HITS),
        ("tokens", question.tokens, MOST_TOKENS),
    ):
        if not 1 <= value <= most:
            message = f"{name} is {value}, not between 1 and {most:,}"
            yield Problem(f"code_{name}", message, f"/{name}")
    for number, path in enumerate(question.paths):
        yield from _path_problems(path, f"/paths/{number}")
    if question.near is not None:
        yield from _path_problems(question.near, "/near")


def _path_problems(path: str, place: str) -> Iterator[Problem]:
    plain = posixpath.normpath(path)
    if not path or "\0" in path:
        yield Problem("code_path", f"{path!r} is no path", place)
    elif plain == ".." or plain.startswith(("../", "/")):
        message = f"{path!r} lies outside of the root"
        yield Problem("code_path_outside", message, place, "name it relative to the root")
