"""The meta document of a run, typed. Times are milliseconds since the epoch, by Redis's clock."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, Literal, get_args

from control_plane.documents import RUN_OVER, Failure, RunStatus
from control_plane.errors import BrokenRun
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
    def parse(cls, text: str, workflow_id: str | None = None) -> RunDocument:
        """The document in ``text`` (what ``JSON.GET key`` returns), of the run ``workflow_id``
        where that is known. Raises BrokenRun for one that no script wrote: it must not come to
        those who read a list of runs."""
        raw = json.loads(text)
        why = _fault(raw)
        name = raw.get("workflow_id") if isinstance(raw, dict) else None
        if not why and workflow_id not in (None, name):
            why = f"workflow_id is {str(name)[:64]!r}, that of another run"
        if why:
            raise BrokenRun(workflow_id=workflow_id or str(name)[:64], why=why)
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


_OBJECTS = ("deps", "agents", "skills")
_TEXTS = ("workflow_id", "workflow_name", "definition", "start_at", "pool")
_TIMES = ("created_at", "started_at", "finished_at", "finalized_at")
_COUNTS = ("redrives", "turn", "deaths", "since", "prepared", "closed", "restored")
LATEST_MS = 253_402_214_400_000
"""The last day of the year 9999, after which `datetime` has no dates."""
_STATUSES = get_args(RunStatus)
_BORN = re.compile(r"[0-9]{1,15}")


def _fault(raw: Any) -> str:
    """What is wrong with the members that everybody reads, "" where nothing is. The schema says
    more, and takes longer."""
    if not isinstance(raw, dict) or not isinstance(raw.get("ctl"), dict):
        return "it has no control record"
    ctl, error = raw["ctl"], raw.get("error")
    right = {
        **{name: isinstance(raw.get(name), str) for name in _TEXTS},
        **{name: _is_time(raw.get(name)) for name in _TIMES},
        **{name: isinstance(raw.get(name, {}), dict) for name in _OBJECTS},
        "input": "input" in raw,
        "states": _are_texts(raw.get("states", [])),
        "pins": _are_pins(raw.get("pins", {})),
        "budget": isinstance(raw.get("budget", {}), dict),
        "callback_secret": isinstance(raw.get("callback_secret", ""), str),
        "exit": isinstance(raw.get("exit"), str | NoneType),
        "error": error is None
        or (isinstance(error, dict) and "error" in error and _may_be_texts(error.values())),
        # Scripts leave out what there is not, and fail at a null.
        **{f"ctl.{name}": value is not None for name, value in ctl.items()},
        "ctl.status": str(ctl.get("status")) in _STATUSES,
        "ctl.protocol": type(ctl.get("protocol")) is int,
        "ctl.digest": isinstance(ctl.get("digest"), str),
        "ctl.pool": isinstance(ctl.get("pool", ""), str),
        **{f"ctl.{name}": type(ctl.get(name, 0)) is int for name in _COUNTS},
        # Lua knows no empty array.
        "ctl.said": isinstance(ctl.get("said"), dict) or ctl.get("said") == [],
        "ctl.born": _BORN.fullmatch(str(ctl.get("born"))) is not None,
    }
    return next((f"{name} is none of a run" for name, good in right.items() if not good), "")


def _is_time(value: object) -> bool:
    return value is None or (type(value) is int and 0 <= value <= LATEST_MS)


def _are_texts(value: object) -> bool:
    return value == {} or (isinstance(value, list) and all(isinstance(one, str) for one in value))


def _are_pins(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())


def _may_be_texts(values: Iterable[object]) -> bool:
    return all(isinstance(one, str | NoneType) for one in values)
