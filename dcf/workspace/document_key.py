"""Which keys documents may have: those under a prefix, and no key of the platform."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from dcf.workspace.errors import BadKey, KeyOutsidePrefix

DEFAULT_PREFIX: Final = "doc:"
MAX_CHARACTERS: Final = 256

# No braces: a hash tag would let the user choose the node of a cluster. No blanks, no control
# characters, no wildcards: keys are typed, logged and listed.
_CHARACTERS = re.compile(r"[A-Za-z0-9_.:/@=+~#-]+")
_PREFIX = re.compile(r"[A-Za-z0-9_.-]+(?::[A-Za-z0-9_.-]+)*:")
_PLATFORM = ("cp", "dp")


@dataclass(frozen=True, slots=True)
class DocumentKeys:
    """The keys under ``prefix``. Raises ValueError for a prefix that could reach other keys: it
    ends with a colon and does not begin with ``cp:`` or ``dp:``."""

    prefix: str = DEFAULT_PREFIX

    def __post_init__(self) -> None:
        if not _PREFIX.fullmatch(self.prefix) or self.prefix.split(":", 1)[0] in _PLATFORM:
            raise ValueError(
                f"{self.prefix!r} cannot be the prefix of documents: words, each with a colon after"
                " it, the first neither cp nor dp"
            )

    def check(self, key: str) -> str:
        """``key``, if a document may have it. Raises BadKey, KeyOutsidePrefix.

        >>> DocumentKeys().check("doc:plan")
        'doc:plan'
        """
        if not key:
            raise BadKey(key=key, rule="it is empty")
        if len(key) > MAX_CHARACTERS:
            raise BadKey(key=key[:40] + "…", rule=f"it has over {MAX_CHARACTERS} characters")
        if not _CHARACTERS.fullmatch(key):
            raise BadKey(
                key=key, rule="letters of ASCII, digits and _ . : / @ = + ~ # - are allowed"
            )
        if not key.startswith(self.prefix):
            raise KeyOutsidePrefix(key=key, prefix=self.prefix)
        if key == self.prefix:
            raise BadKey(key=key, rule="something must follow the prefix")
        return key
