"""Globs over names: ``*`` stands for any text, ``?`` for one character, ``[ab]`` for one of these.

Finding one in a text takes no longer than the lengths of both multiplied; reading a glob takes the
square of its length, so its length has a limit.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import lru_cache

LONGEST = 256
"""Most characters of a glob."""


def fits(text: str, glob: str) -> bool:
    """Whether the whole of ``text`` fits; upper and lower case differ."""
    return _compiled(glob).match(text) is not None


# Each decision asks all globs of a policy in turn: a cache that is smaller than one large policy
# would never have the one that is asked (the standard library's has 256).
@lru_cache(maxsize=16_384)
def _compiled(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob))
