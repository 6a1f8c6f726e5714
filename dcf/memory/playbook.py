"""A playbook: an error that was seen before, what to do about it, and who answers for that."""

from __future__ import annotations

from dataclasses import dataclass

from dcf.citation import Citation

STALE_DAYS = 180
"""So long a playbook is trusted after it helped or was confirmed."""
_DAY_MS = 86_400_000
_JUDGED = 10
"""The last uses by which a playbook is judged."""


@dataclass(frozen=True, slots=True)
class NewPlaybook:
    """What is to be kept. ``pattern`` is the text of an error, as it is put out; ``resolution``
    what to do about it, ``owner`` the person or team to ask. ``sources`` are the ids of the
    observations that it was made from."""

    pattern: str
    resolution: str
    owner: str
    project: str = ""
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlaybookUse:
    """That ``by`` (a person, or the address of a run) tried a resolution ``at`` a time (ms)."""

    by: str
    at: int
    helped: bool


@dataclass(frozen=True, slots=True)
class Playbook:
    """A playbook as it is kept. ``helped`` and ``failed`` count all uses, ``uses`` are the last
    ones, the oldest first. ``confirmed_at`` is when it helped last, or a person wrote it. Times are
    ms since the epoch, UTC."""

    id: str
    project: str
    pattern: str
    resolution: str
    owner: str
    sources: tuple[str, ...]
    helped: int
    failed: int
    uses: tuple[PlaybookUse, ...]
    confirmed_at: int
    revision: int
    created_at: int
    updated_at: int

    @property
    def citation(self) -> str:
        """Its address."""
        return str(Citation("playbook", self.id))

    @property
    def counted(self) -> str:
        """How often it helped, in words."""
        return f"helped {_times(self.helped)}, failed {_times(self.failed)}"

    def stale(self, now: int, days: int = STALE_DAYS) -> str:
        """Why it is not to be trusted ``now`` (ms); empty where it is."""
        last = self.uses[-_JUDGED:]
        failed = sum(not use.helped for use in last)
        if 2 * failed > len(last):
            return f"it failed in {failed} of its last {len(last)} uses"
        idle = (now - self.confirmed_at) // _DAY_MS
        return f"it was not confirmed for {idle} days" if idle >= days else ""


@dataclass(frozen=True, slots=True)
class PlaybookMatch:
    """A playbook that fits an error: ``score`` (0 to 1) is the share of its words that the error
    says, ``reason`` names them. ``stale`` as of ``Playbook.stale``."""

    playbook: Playbook
    score: float
    reason: str
    stale: str

    @property
    def text(self) -> str:
        """All that a reader needs, in lines."""
        one = self.playbook
        lines = [
            f"Seen before: {one.pattern}",
            f"Resolution: {one.resolution}",
            f"Owner: {one.owner}; {one.counted}",
        ]
        return "\n".join([*lines, f"Stale: {self.stale}"] if self.stale else lines)


@dataclass(frozen=True, slots=True)
class PlaybookProposal:
    """A playbook that an observation which was made ``times`` times could be; a person decides."""

    observation_id: str
    title: str
    times: int
    pattern: str
    resolution: str


def _times(count: int) -> str:
    return {0: "never", 1: "once"}.get(count, f"{count} times")
