"""References to skills by name and range of versions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from dcf.skills.version_order import version_order
from dcf.skills.version_range import parse_range

__all__ = ["EXACT", "SkillRef", "is_range", "newest", "parse_ref", "version_order"]

EXACT = re.compile(
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z]+([.-][0-9A-Za-z]+)*)?"
)
"""One version; manifests from elsewhere may carry what is none, such as 1.0.0-01: it is found by
that text alone."""


@dataclass(frozen=True, slots=True)
class SkillRef:
    """A skill by name and range of versions, as in ``crm.lookup@^1.2``; ``wanted`` is ``*`` when
    the text names none."""

    name: str
    wanted: str = "*"

    def __str__(self) -> str:
        return f"{self.name}@{self.wanted}"


def parse_ref(text: str) -> SkillRef:
    """The name and range in ``text``; ``skill://`` in front says nothing more, nor does case.
    After ``@`` has to stand a range: with nothing there, no version is ever in it.

    >>> parse_ref("skill://crm.lookup@^1.2")
    SkillRef(name='crm.lookup', wanted='^1.2')
    """
    bare = text.strip()
    if bare.lower().startswith("skill://"):
        bare = bare[len("skill://") :]
    name, given, wanted = bare.partition("@")
    return SkillRef(name.strip().lower(), wanted.strip() if given else "*")


def is_range(wanted: str) -> bool:
    """Whether ``wanted`` is a range: ``^1.2``, ``~1.2.3``, ``>=1 <3``, ``1.x``, ``1.0.0``, ``*``,
    any of them joined by ``||``."""
    return EXACT.fullmatch(wanted) is not None or parse_range(wanted) is not None


def newest(versions: Iterable[str], wanted: str) -> str | None:
    """The highest of ``versions`` that lies in the range, or None.

    >>> newest(["1.2.0", "1.10.0", "2.0.0"], "^1.2")
    '1.10.0'
    """
    if EXACT.fullmatch(wanted):
        return wanted if wanted in set(versions) else None
    found = parse_range(wanted)
    if found is None:
        return None
    return max(filter(found.holds, versions), key=version_order, default=None)
