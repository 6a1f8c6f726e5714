"""The meta document of a run, typed. Times are milliseconds since the epoch, by Redis's clock."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal

from control_plane.documents import RUN_OVER, Failure, RunStatus
from control_plane.payload import JSON


@dataclass(frozen=True, slots=True)
class RunDocument:
    """The meta document of a run. ``incarnation`` tells it from others that had its id, and from
    itself before its last redrive; ``born`` (ms) only from the others. ``outbox``: whether the
    graph is to have its end, or has it. ``callback_secret`` signs its task tokens, "" where it has
    none.
    """

    workflow_id: str
    name: str
    status: RunStatus
    protocol: int
    digest: str
    incarnation: str
    definition: str
    start_at: str
    pool: str
    input: JSON
    error: Failure | None
    exit: str | None
    created_at: int | None
    started_at: int | None
    finished_at: int | None
    finalized_at: int | None
    redrives: int
    born: str
    outbox: Literal["waiting", "told", "refused"] | None
    callback_secret: str = field(repr=False)
    # It holds the secret too.
    raw: dict[str, Any] = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> RunDocument:
        """The document in ``text`` (what ``JSON.GET key`` returns)."""
        raw = json.loads(text)
        ctl = raw["ctl"]
        redrives = ctl.get("redrives", 0)
        return cls(
            workflow_id=raw["workflow_id"],
            name=raw["workflow_name"],
            status=ctl["status"],
            protocol=ctl["protocol"],
            digest=ctl["digest"],
            incarnation=f"{ctl['digest']}/{ctl['born']}" + (f"/{redrives}" if redrives else ""),
            definition=raw["definition"],
            start_at=raw["start_at"],
            pool=raw["pool"],
            input=raw["input"],
            error=Failure.parse(raw.get("error")),
            exit=raw.get("exit") or None,
            created_at=raw.get("created_at"),
            started_at=raw.get("started_at"),
            finished_at=raw.get("finished_at"),
            finalized_at=raw.get("finalized_at"),
            redrives=redrives,
            born=str(ctl["born"]),
            outbox=ctl.get("outbox"),
            callback_secret=raw.get("callback_secret", ""),
            raw=raw,
        )

    @property
    def turn(self) -> int:
        """The number of the last move; 0 when it was never moved."""
        return int(self.raw["ctl"].get("turn", 0))

    @property
    def removing(self) -> bool:
        """Whether somebody began to remove it: documents of it may be gone."""
        return bool(self.raw["ctl"].get("removing"))

    @property
    def is_over(self) -> bool:
        return self.status in RUN_OVER
