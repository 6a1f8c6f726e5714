"""How far consolidations go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dcf.memory.checking import refuse
from dcf.problem import Problem

DAY_MS = 86_400_000
TARGET_BYTES = 8_000
"""The target of a block that has no soft limit."""


@dataclass(frozen=True, slots=True)
class ConsolidationSettings:
    """``level`` 0 to 9 is how much is done for less room:

    - 0: lines and passages that are the same but for spaces and list marks are merged, and old
      messages archived. No block is shortened, nothing is compressed.
    - From 1 on near duplicates are merged: the likeness of two lines is at least 1 - 0.02 * level,
      and the one that stays has the words of the other, in their order. From 6 on some may be
      missing: 5 % of the words, 20 % at level 9.
    - A block over its target becomes at most target * (1 - level / 18) bytes: 1/2 at level 9.
    - zlib compresses old history at this level.

    ``target_block_bytes`` is the size that a block should have, never above its limits; None is
    the soft limit, else the hard limit, or 8,000 where there is none. Messages are archived when
    they are older than ``archive_after_ms`` or do not fit in the window, but never the newest
    ``keep_messages``. Events are compressed when they are older than ``compress_after_ms``.
    ``token_budget`` is what a model may use for one session, 0 for none at all (None: no limit).
    Whoever consolidates an agent has ``claim_ms`` for it; then others may.

    Raises InvalidEntry with all that is wrong.
    """

    level: int = 5
    target_block_bytes: int | None = None
    archive_after_ms: int = 7 * DAY_MS
    keep_messages: int = 20
    compress_after_ms: int = 30 * DAY_MS
    token_budget: int | None = 100_000
    claim_ms: int = 600_000

    def __post_init__(self) -> None:
        refuse("the settings of consolidation", self._problems())

    def _problems(self) -> Iterator[Problem]:
        if not 0 <= self.level <= 9:
            yield Problem(
                "memory_consolidation_level", f"level is {self.level}, not 0 to 9", "/level"
            )
        for name, least in (("target_block_bytes", 100), ("keep_messages", 1), ("claim_ms", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                yield Problem(
                    "memory_consolidation_setting", f"{name} is less than {least}", f"/{name}"
                )
        for name in ("archive_after_ms", "compress_after_ms", "token_budget"):
            value = getattr(self, name)
            if value is not None and value < 0:
                yield Problem("memory_consolidation_setting", f"{name} is less than 0", f"/{name}")

    @property
    def likeness(self) -> float:
        """What two lines must at least have to be near duplicates."""
        return 1 - 0.02 * self.level

    @property
    def spare(self) -> float:
        """The part of a line's words that may be its own and it is removed all the same."""
        return 0.05 * max(self.level - 5, 0)

    def target(self, soft_limit: int | None, hard_limit: int | None) -> int:
        """Bytes that a block with these limits should have at most."""
        limits = [limit for limit in (soft_limit, hard_limit) if limit is not None]
        if self.target_block_bytes is not None:
            return min([self.target_block_bytes, *limits])
        return min(limits, default=TARGET_BYTES)

    def room(self, target: int) -> int:
        """Bytes to which a block over its target is shortened."""
        return int(target * (1 - self.level / 18))
