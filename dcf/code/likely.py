"""Files that are likely to answer a question, found without an index, by ripgrep."""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from dcf.code.files import LARGEST, MOST_FILES, ignoring, path_text
from dcf.code.question import Question
from dcf.code.ripgrep import records
from dcf.code.traces import meant_paths, named_places

_WORDS = 4
"""Words that are looked for: each is a look into every file."""
_SHORTEST = 3
_LONGEST = 1_000
"""Characters of a word: a command line has no room for any."""


async def likely(root: Path, paths: Sequence[str], question: Question) -> list[str]:
    """Those of ``paths`` that say a word of ``question`` or have it in their name, the best first:
    a word that few files say counts more. Files that a stack trace names come before all others.
    Raises ``RipgrepMissing``, ``RipgrepFailed``."""
    # The longest: they are in the fewest files.
    fitting = [one for one in question.words if _SHORTEST <= len(one) <= _LONGEST]
    words = sorted(fitting, key=len)[-_WORDS:]
    saying = await asyncio.gather(*(_saying(root, word) for word in words))
    worth: dict[str, float] = defaultdict(float)
    for word, found in zip(words, saying, strict=True):
        named = {path for path in paths if word in path.lower()}
        for some in (found, named):
            for path in some:
                worth[path] += math.log(1 + len(paths) / len(some))
    first = dict.fromkeys(meant_paths(paths, named_places(question.text)))
    known = set(paths)
    rest = sorted((one for one in worth if one in known), key=lambda path: (-worth[path], path))
    return list(dict.fromkeys((*first, *rest)))


async def _saying(root: Path, word: str) -> set[str]:
    arguments = [
        *("--files-with-matches", "--null", "--ignore-case", "--fixed-strings"),
        *(f"--max-filesize={LARGEST}", *ignoring(root)),
        *(f"--regexp={word}", "--", "."),
    ]
    found, _ = await records(arguments, root, end=b"\0", most=MOST_FILES)
    return {path for one in found if (path := path_text(one)) is not None}
