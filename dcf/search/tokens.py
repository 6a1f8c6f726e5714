"""How many tokens a text costs a model, about."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from dcf.search.wheel_file import wheel_file
from dcf_agents.installation import package_command

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

_MOST_HELD = 200_000
"""Pieces of words that are known: some 15 MB."""
_LONGEST_WORD = 64
_LONGEST_NUMBER = 4
"""Of words with a digit: longer ones are ids and times, of which each is another."""
_DIGIT = re.compile(r"\d")
_MOST_COUNTED = 50_000
_DIGEST = 16
_counts: dict[bytes, int] = {}
"""Tokens of texts by their digests, some 8 MB: what answers a question answers others too, and to
count it took a sixth of an answer."""
_FEW = 16
"""Words for which it takes longer to wake the other cores."""


class KnownPieces:
    """The pieces of words. No piece goes on over a blank, and texts share most of their words: each
    is cut once."""

    def __init__(self) -> None:
        self._tokenizer = wordllama_tokenizer()
        self._known: dict[str, list[int]] = {}
        self._held = 0

    def of(self, words: Collection[str]) -> Mapping[str, list[int]]:
        """The numbers of the pieces of each of ``words``."""
        # Another thread may begin anew meanwhile: each goes on with what it has.
        known, held = (self._known, self._held) if self._held < _MOST_HELD else ({}, 0)
        found = {word: known[word] for word in words if word in known}
        new = [word for word in words if word not in found]
        for word, one in zip(new, self._cut(new), strict=True):
            found[word] = one.ids
            if _comes_again(word):
                known[word] = one.ids
                held += len(one.ids)
        self._known, self._held = known, held
        return found

    def _cut(self, words: list[str]) -> list[Encoding]:
        if len(words) < _FEW:
            return [self._tokenizer.encode(word, add_special_tokens=False) for word in words]
        return self._tokenizer.encode_batch_fast(words, add_special_tokens=False)


def _comes_again(word: str) -> bool:
    if len(word) <= _LONGEST_NUMBER:
        return True
    return len(word) <= _LONGEST_WORD and _DIGIT.search(word) is None


def count_tokens(text: str) -> int:
    """Tokens of ``text`` by the tokenizer that the default embedder carries (Llama 2, 32,000
    pieces). Models cut texts differently: other vocabularies give up to a quarter less."""
    return counts_of_tokens([text])[0]


def counts_of_tokens(texts: Sequence[str]) -> list[int]:
    """The tokens of each of ``texts``, as ``count_tokens`` counts them, on all cores."""
    global _counts
    # Another thread may begin anew meanwhile: each goes on with what it has.
    counts = _counts if len(_counts) < _MOST_COUNTED else {}
    data = [text.encode("utf-8", "replace") for text in texts]
    names = [blake2b(one, digest_size=_DIGEST).digest() for one in data]
    new = {name: one for name, one in zip(names, data, strict=True) if name not in counts}
    if new:
        # As a batch, which lets other threads go on: a text of megabytes takes seconds.
        counted = wordllama_tokenizer().encode_batch_fast(
            [one.decode() for one in new.values()], add_special_tokens=False
        )
        counts.update(zip(new, (len(one.ids) for one in counted), strict=True))
    _counts = counts
    return [counts[name] for name in names]


def whole(text: str) -> str:
    """``text`` with a question mark for each half surrogate, which JSON may hold and no tokenizer
    reads."""
    return text.encode("utf-8", "replace").decode()


@cache
def wordllama_tokenizer() -> Tokenizer:
    """The tokenizer of the default embedder, without padding; raises ``EmbedderMissing``."""
    from tokenizers import Tokenizer

    path = wordllama_file("tokenizers/l2_supercat_tokenizer_config.json")
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def wordllama_file(inside: str) -> Path:
    """The file ``inside`` the package of the default embedder; raises ``EmbedderMissing``."""
    hint = partial(package_command, "wordllama==0.4.0.post1")
    return wheel_file("wordllama", "wordllama", inside, hint)
