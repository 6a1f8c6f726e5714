"""A text that is too long for its room is cut to the lines around the words of the question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dcf.retrieval.candidate import Scored
from dcf.retrieval.word_table import WordTable
from dcf.search import counts_of_tokens, telling_words

AROUND = 8
"""Tokens of the signs around a text, as JSON or a heading has them."""
LEAST_CUT = 80
"""Tokens of the smallest cut that is worth its address and its mark."""
_LEAST_TEXT = 12
_STRETCH = 50_000
"""Characters of a long text that are looked at together."""
_SIGNS = 16
"""Characters of a token: few have more."""
_PART = 160
"""Characters of a line, at most: a longer one is cut inside, between words where it has any."""


def with_costs(ranked: Sequence[Scored]) -> list[Scored]:
    """Each with what it costs: its text and its addresses."""
    texts = [_told(one, one.candidate.text) for one in ranked]
    costs = counts_of_tokens(texts) if texts else []
    return [replace(one, tokens=cost + AROUND) for one, cost in zip(ranked, costs, strict=True)]


def cut(query: str, one: Scored, room: int) -> Scored | None:
    """``one``, whose cost is known, in at most ``room`` tokens: the lines around most words of
    ``query``, and a last line that says that it is cut and what the whole costs (``whole_tokens``
    in ``about``). None where the room is too small for an address and a little text."""
    mark = f"[cut: the whole costs {one.tokens:,} tokens]"
    (around,) = counts_of_tokens([_told(one, f"\n{mark}")])
    room -= around + AROUND
    if room < _LEAST_TEXT:
        return None
    lines = [*_parts(_near(query, one.candidate.text, room))]
    said = _words(query, lines)
    first, last = _window(counts_of_tokens(lines), said, room)
    about = {**one.candidate.about, "whole_tokens": one.tokens}
    while first < last:
        text = "".join(lines[first:last]).strip("\n")
        candidate = replace(one.candidate, text=f"{text}\n{mark}", about=about)
        (told,) = with_costs([replace(one, candidate=candidate)])
        if told.tokens <= room + around + AROUND:
            return told
        # Joined, lines may cost a little more than each alone.
        if said[last - 1] and not said[first]:
            first += 1
        else:
            last -= 1
    return None


def _told(one: Scored, text: str) -> str:
    return "\n".join((text, one.candidate.heading, *one.candidate.about.get("also", ())))


def _near(query: str, text: str, room: int) -> str:
    """The part of a long ``text`` that is looked at: the stretch that says most words of ``query``,
    with those beside it. A text of megabytes took seconds of a core."""
    step = max(_STRETCH, _SIGNS * room)
    if len(text) <= 3 * step:
        return text
    asked = [word.lower() for word in dict.fromkeys(telling_words(query))]
    starts = range(0, len(text), step)
    said = (sum(word in text[at : at + step].lower() for word in asked) for at in starts)
    best = max(zip(said, starts, strict=True), key=lambda one: (one[0], -one[1]))[1]
    begun = max(0, best - step)
    line = text.find("\n", begun, best) + 1
    return text[line or begun : best + 2 * step]


def _parts(text: str) -> Iterator[str]:
    """All of ``text``: lines with their ends, those that are long in parts."""
    for line in text.splitlines(keepends=True):
        start = 0
        while len(line) - start > _PART:
            blank = line.rfind(" ", start, start + _PART)
            end = blank + 1 if blank > start else start + _PART
            yield line[start:end]
            start = end
        yield line[start:]


def _words(query: str, lines: Sequence[str]) -> list[frozenset[str]]:
    """The telling words of ``query`` that each of ``lines`` says."""
    table = WordTable()
    table.put(enumerate(lines))
    said: list[set[str]] = [set() for _ in lines]
    for word in dict.fromkeys(telling_words(query)):
        for number in table.best(word):
            said[number].add(word)
    return [*map(frozenset, said)]


def _window(costs: Sequence[int], said: Sequence[frozenset[str]], room: int) -> tuple[int, int]:
    """The lines, from the first to behind the last, that cost at most ``room`` and say most words,
    each counted once; as many beside them as fit, by turns behind and before."""
    inside: Counter[str] = Counter()
    start = spent = most = 0
    best = (0, 0)
    for end, words in enumerate(said):
        inside.update(words)
        spent += costs[end]
        while spent > room:
            inside -= Counter(said[start])
            spent -= costs[start]
            start += 1
        if len(inside) > most:
            most, best = len(inside), (start, end + 1)
    first, last = best
    while first < last and not said[first]:
        first += 1
    left = room - sum(costs[first:last])
    grows = True
    while grows:
        grows = False
        if last < len(costs) and costs[last] <= left:
            left -= costs[last]
            last, grows = last + 1, True
        if first > 0 and costs[first - 1] <= left:
            left -= costs[first - 1]
            first, grows = first - 1, True
    return first, last
