"""What one call makes of the keys of a run: read as they were before, written on a scratch."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from control_plane import INDEX, RunKeys, run_lists
from control_plane import keys as redis_keys
from dcf.simulation.model.control import OPEN, Control, copied, due_at, public_lease
from dcf.simulation.server import Call

_FRAME = re.compile(r"\[\d+\]$")
Keys = Mapping[str, Any]


class Scratch:
    """``names`` are the keys that the call was given. ``changed`` are keys as it leaves them, None
    where it removes one, ``ends`` when those expire that it gives a time (None: not any more);
    ``events`` is what it puts into the history, ``hinted`` the paths that it hints, in order. Times
    in ms."""

    def __init__(self, known: Keys, call: Call, now: int) -> None:
        self.request, self.texts, self.now = call.request, call.texts, now
        run = call.request.get("run", "")
        self.keys = RunKeys(run, cluster=RunKeys(run, cluster=True).meta in call.keys)
        self.names = call.keys
        self.changed: dict[str, Any] = {}
        self.ends: dict[str, int | None] = {}
        self.events: list[dict[str, Any]] = []
        self.hinted: list[str] = []
        self.look: int | None = None
        self.relist = False
        self.quiet = False
        self.steps = 0
        self._known = known

    def text(self, number: int) -> str:
        """ARGV[number], "" where it is missing."""
        return self.texts[number - 2] if number - 2 < len(self.texts) else ""

    def peek(self, key: str) -> Any:
        """A value as it is by now, or None; not to be changed."""
        return self.changed[key] if key in self.changed else self._known.get(key)

    def get(self, key: str) -> Any:
        """A copy of it."""
        return copied(self.peek(key))

    def missing_blob(self) -> str | None:
        """The first of the blobs that the call refers to which is not there."""
        named = self.request.get("blobs", ())
        return next((one for one in named if self.peek(self.keys.blob(one)) is None), None)

    def set(self, key: str, value: Any) -> None:
        """Write a value; None removes the key. In a cluster a run's script reaches nothing but the
        run: the rest is its client's part."""
        if not self.keys.cluster or f"{{{self.keys.workflow_id}}}" in key:
            self.changed[key] = value or None

    def add(self, key: str, members: Mapping[str, Any]) -> None:
        """Put members into a set, a sorted set or a hash; those that are None leave it."""
        # A copy of what was there before, made once.
        value = (self.changed[key] if key in self.changed else self.get(key)) or {}
        for member, score in members.items():
            value.pop(member, None)
            if score is not None:
                value[member] = score
        self.set(key, value)

    def append(self, key: str, fields: Sequence[str], newest: int | None = None) -> None:
        """Put an entry at the end of a stream; with ``newest`` only so many stay."""
        stream = self.get(key) or {"entries": [], "last_id": "0-0", "groups": {}}
        last, number = map(int, stream["last_id"].split("-"))
        entry = f"{self.now}-0" if self.now > last else f"{last}-{number + 1}"
        entries = [*stream["entries"], (entry, tuple(fields))]
        stream |= {"entries": entries[-newest:] if newest else entries, "last_id": entry}
        self.set(key, stream)

    # -- documents --------------------------------------------------------------------------------

    def load(self, path: str) -> Control | None:
        """The control record of a state."""
        document = self.peek(self.keys.state(path))
        return None if document is None else dict(copied(document["ctl"]))

    def load_run(self) -> Control | None:
        """The control record of the run."""
        control = (self.peek(self.keys.meta) or {}).get("ctl")
        return None if control is None else dict(copied(control))

    @property
    def pool(self) -> str:
        """The pool whose workers get the hints."""
        return str((self.load_run() or {}).get("pool", ""))

    def load_visit(self, path: str, ctl: Control | None, visit: int) -> Control | None:
        """That of an earlier visit, if that is what is asked for."""
        if ctl is not None and ctl["visit"] > visit:
            return self.load(f"{path}@{visit}")
        return ctl

    def save(self, path: str, ctl: Control, more: Mapping[str, Any] | None = None) -> None:
        """Write a control record with its public copy, and members by their dotted places."""
        document = self.get(self.keys.state(path))
        document |= {"ctl": copied(ctl), "status": ctl["status"]}
        document |= {"attempts": ctl["attempts"], "lease": public_lease(ctl)}
        _patch(document, more or {})
        self.set(self.keys.state(path), document)
        self.schedule(path, ctl)

    def note_control(self, path: str, ctl: Control) -> None:
        """Write a control record alone."""
        document = self.get(self.keys.state(path))
        document["ctl"] = copied(ctl)
        self.set(self.keys.state(path), document)

    def save_run(self, run: Control, more: Mapping[str, Any] | None = None) -> None:
        """The same of the run's document, whose public copy is of its caller."""
        document = self.get(self.keys.meta)
        document["ctl"] = copied(run)
        _patch(document, more or {})
        self.set(self.keys.meta, document)

    def document(
        self, path: str, ctl: Control, kind: str, given: Any, variables: Any = None
    ) -> None:
        """A new document at ``path``."""
        entered = None if ctl["status"] == "pending" else self.now
        started = self.now if "lease" in ctl else None
        members = {"path": path, "type": kind, "status": ctl["status"], "visit": ctl["visit"]}
        members |= {"attempts": ctl["attempts"], "lease": public_lease(ctl), "input": given}
        if variables is not None:
            members["variables"] = variables
        names = ("event", "error", "model_selection", "execution_metrics")
        members |= dict.fromkeys(names)
        members["times"] = {"entered": entered, "started": started, "finished": None}
        members["ctl"] = copied(ctl)
        self.set(self.keys.state(path), members)
        self.add(self.keys.paths, {path: True})

    def set_aside(self, path: str, ctl: Control) -> None:
        """Make room for a new visit."""
        if ctl["status"] in OPEN:
            ctl["status"] = "cancelled"
            ctl.pop("lease", None)
            self.save(path, ctl, {"times.finished": self.now})
        self.move(path, f"{path}@{ctl['visit']}", copy_state=False)

    def move(self, path: str, earlier: str, *, copy_state: bool) -> None:
        """Let what stands at ``path`` stand at ``earlier``, its output with it."""
        self.set(self.keys.state(earlier), self.get(self.keys.state(path)))
        if not copy_state:
            self.set(self.keys.state(path), None)
        if (output := self.get(self.keys.output(path))) is not None:
            self.set(self.keys.output(earlier), output)
            self.set(self.keys.output(path), None)
        self.add(self.keys.paths, {earlier: True})

    # -- time, hints, history ---------------------------------------------------------------------

    def schedule(self, path: str, ctl: Control) -> None:
        """Note when time can move the state."""
        at = due_at(ctl)
        self.add(self.keys.due, {path: at})
        # In a cluster a look never lies far ahead while a state is ready or running.
        soon = self.keys.cluster and ctl["status"] != "waiting"
        if at is not None and not self.quiet and not soon:
            self.look_at(at)

    def look_at(self, moment: int) -> None:
        """Look at the run then at the latest."""
        self.look = moment if self.look is None else min(moment, self.look)
        known = (self.get(INDEX) or {}).get(self.request["run"], moment)
        self.add(INDEX, {self.request["run"]: min(known, moment)})

    def hint(self, path: str) -> None:
        """Tell workers of a state that is ready."""
        self.hinted.append(path)

    def record(self, event: dict[str, Any]) -> None:
        """Tell the history."""
        self.events.append(event)

    def tell(self, kind: str, path: str, more: Mapping[str, Any]) -> None:
        """Tell the history of a state."""
        self.record({"type": kind, "path": path, **more})

    def ending(self) -> list[Any]:
        """What each answer ends with, for clients of a cluster."""
        cluster, pool = self.keys.cluster, self.pool if self.hinted else ""
        look = str(self.look) if cluster and self.look is not None else ""
        return [look, self.hinted, pool, int(cluster and self.relist)]

    # -- runs -------------------------------------------------------------------------------------

    def dead(self, path: str, ctl: Control) -> str | None:
        """Why nothing under ``path`` may be written."""
        run = self.load_run()
        if run is None:
            return "unknown_run"
        if run["status"] != "running":
            return "cancelled" if run["status"] == "cancelled" else "closed"
        if run["protocol"] > self.request.get("protocols", run["protocol"]):
            return "unknown_protocol"
        round_, above = ctl["pv"], parent_of(path, ctl["kind"])
        while above:
            outer = self.load(above)
            join = (outer or {}).get("join")
            if outer is None or join is None or not join["open"] or join["visit"] != round_:
                return "closed"
            round_, above = outer["pv"], parent_of(above, "state")
        return None

    def enlist(self, run: Control | None) -> None:
        """Let the lists say what the run is; None: nothing any more."""
        self.relist = True
        for status in run_lists.STATUSES:
            born = int(run["born"]) if run and status == run["status"] else None
            self.add(redis_keys.runs(status), {self.request["run"]: born})

    def end_run(self, status: str, exit_: str, failure: Any, said: str = "") -> None:
        """The run is over."""
        run = self.load_run()
        assert run is not None
        run["status"] = status
        if said:
            run["said"][said] = self.request["call"]
        more = {"status": status, "exit": exit_, "error": failure, "finished_at": self.now}
        self.save_run(run, more)
        self.add(self.keys.due, {"": None})
        self.enlist(run)
        self.record({"type": "RunEnded", "status": status, "exit": exit_})
        self.look_at(self.now)

    def end_lost(self, path: str) -> None:
        """The run fails with a state that every worker died over."""
        cause = "every worker that took up this state died or vanished"
        self.end_run("failed", path, {"error": "DCF.WorkerLost", "cause": cause})


def parent_of(path: str, kind: str) -> str:
    """The state whose join a ticket, or a state inside one, reports to; "" for none."""
    frame = path if kind == "frame" else path.rpartition("/")[0]
    return _FRAME.sub("", frame)


def _patch(document: dict[str, Any], more: Mapping[str, Any]) -> None:
    for place, value in more.items():
        holder, _, name = place.rpartition(".")
        (document[holder] if holder else document)[name] = value
