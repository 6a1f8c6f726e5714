"""Which texts have which words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Set


class Sayings:
    """Finds the texts that have all but a few of some words. ``texts`` are the words of all texts
    that will be there: by them it is known which are rare."""

    def __init__(self, texts: Iterable[Set[str]]) -> None:
        self._counts = Counter(word for words in texts for word in words)
        self._saying: defaultdict[str, dict[int, None]] = defaultdict(dict)

    def add(self, number: int, words: Set[str]) -> None:
        """The text ``number`` is there, and has ``words``; it may be said again with more."""
        for word in words:
            self._saying[word][number] = None

    def having(self, words: Set[str], missing: int) -> list[int]:
        """Numbers of texts that may have all but ``missing`` of ``words``; no other has.

        Such a text has at least one of the rarest ``missing + 1`` words.
        """
        rarest = sorted(words, key=lambda word: (self._counts[word], word))[: missing + 1]
        return sorted({number for word in rarest for number in self._saying.get(word, ())})
