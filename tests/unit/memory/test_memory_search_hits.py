"""Where words are looked for when there are too many texts to look at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeAlias

import pytest
from campaigns import campaign
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dcf.memory import Source
from dcf.memory.database import Connection, migrate
from dcf.memory.search import hits as module
from dcf.memory.search.hits import Hits, hits
from dcf.memory.search.place import bounds, range_of
from dcf.memory.search.scope import Scope, Stretch

WORDS = ("plum", "fig", "pear", "lime")
Text: TypeAlias = tuple[frozenset[str], frozenset[str]]
"""The words of a text, and those that it is about."""

NO: frozenset[str] = frozenset()
PLUM = frozenset({"plum"})

_some = st.frozensets(st.sampled_from(WORDS))
_texts = st.lists(st.tuples(_some, _some | st.just(NO)), max_size=24)


@pytest.fixture(scope="module")
def empty() -> Iterator[Connection]:
    """An index without texts."""
    with closing(Source(Path(":memory:")).connect()) as connection:
        migrate(connection, Path("m.db"))
        yield connection


@contextmanager
def indexed(empty: Connection, texts: Sequence[Text]) -> Iterator[dict[int, Text]]:
    """The passages of two agents are in the index; where each stands."""
    empty.execute("BEGIN")
    try:
        at = {}
        for number, (said, about) in enumerate(texts):
            which = range_of(1 + number % 2, "passage")
            place = bounds(which)[0] + 1 + number // 2
            at[place] = (said, about)
            empty.execute(
                "INSERT INTO search_words (rowid, text, about) VALUES (?, ?, ?)",
                (place, " ".join(said), " ".join(about)),
            )
            if about:
                empty.execute(
                    "INSERT INTO search_abouts (rowid, about) VALUES (?, ?)",
                    (place, " ".join(about)),
                )
            empty.execute(
                "INSERT INTO search_ranges VALUES (?, 1, 1)"
                " ON CONFLICT (range) DO UPDATE SET documents = documents + 1",
                (which,),
            )
        yield dict(sorted(at.items()))
    finally:
        empty.execute("ROLLBACK")


def wide(*stretches: Stretch) -> Scope:
    return Scope(stretches, 5_000, {"passage": 1.0})


def expected(at: dict[int, Text], found: dict[str, Hits], enough: int) -> dict[str, list[int]]:
    """What is to be found of each word, its own texts first: all texts of the rarest words, of the
    others those of them that have a rare one too."""
    rare: list[str] = []
    seen = 0
    wanted = {}
    for word in sorted(WORDS, key=lambda one: found[one].share):
        number = round(found[word].share * 5_000)
        is_rare = not (seen and seen + number > enough)
        asked = [
            place
            for place, (said, about) in at.items()
            if is_rare or any(one in said | about for one in rare)
        ]
        said = [place for place in asked if word in at[place][0]][:enough]
        about = [place for place in asked if word in at[place][1]][:enough]
        wanted[word] = said + about
        if is_rare:
            rare.append(word)
            seen += number + len(about)
    return wanted


@campaign(shares=3)
@settings(max_examples=50, deadline=None)
@given(texts=_texts, enough=st.integers(1, 9))
@example(texts=[(PLUM, NO), (NO, PLUM), (NO, PLUM), (frozenset({"fig"}), PLUM)], enough=2)
def test_common_words_are_looked_for_where_a_rare_one_is(
    empty: Connection, share: int, texts: list[Text], enough: int
) -> None:
    with pytest.MonkeyPatch.context() as patch, indexed(empty, texts) as at:
        patch.setattr(module, "_ENOUGH", enough)
        answer = hits(empty, WORDS, wide(Stretch(0, (1 << 62) - 1)))
    found = dict(zip(WORDS, answer, strict=True))
    got = {word: [*one.text.tolist(), *one.about.tolist()] for word, one in found.items()}
    assert got == expected(at, found, enough)


@given(texts=_texts)
@settings(max_examples=30, deadline=None)
def test_what_is_outside_of_the_scope_is_not_found(empty: Connection, texts: list[Text]) -> None:
    first, last = bounds(range_of(2, "passage"))
    with indexed(empty, texts) as at:
        answer = hits(empty, WORDS, wide(Stretch(first, last)))
    for word, one in zip(WORDS, answer, strict=True):
        inside = {place: text for place, text in at.items() if first <= place <= last}
        assert one.text.tolist() == [place for place in inside if word in inside[place][0]]
        assert one.about.tolist() == [place for place in inside if word in inside[place][1]]
        assert one.share == len(one.text) / 5_000
