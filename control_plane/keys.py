"""Names of keys and of state instances.

A *path* names an instance: ``Review``, ``Fan[2]/Fetch`` (third Map iteration), ``Both[0]/Left``
(first Parallel branch). State names are percent-encoded where they would read as structure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from control_plane.errors import BadName

_WORKFLOW_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_STRUCTURAL = re.compile(r"[%/\[\]#:@{}\x00-\x1f\x7f]")
_SEGMENT = re.compile(r"([^\[/]+)(?:\[(\d+)\])?")

INDEX = "cp:wf:index"
ACCEPTED = f"cp:accepted:{{{INDEX}}}"
"""string: when a sweep's write was accepted last (ms, kept to a second); in the index's slot."""
DONE = "cp:wf:done"
RUNS_FILLED = "cp:{runs}:filled"
"""hash: done (score of DONE up to which the lists of runs are brought up to date), counted (ms)."""
RUNS_RETAINED = "cp:{runs}:retained"
"""string: there for an hour after a process looked for runs that ended long enough ago to go."""
OUTBOX_RUNS = "cp:{outbox}:runs"
"""stream of {run, id}: runs that ended and are not yet in the graph. A hint: the run's document
says whether it is, and is found again by a sweep of ``DONE``."""
OUTBOX_RECORDS = "cp:{outbox}:records"
"""stream of {kind, id, data}: what others have for the graph. Stands nowhere else."""
OUTBOX_REFUSED = "cp:{outbox}:refused"
"""stream of what could not be written to the graph, and why; the last thousand."""
OUTBOX_COUNTS = "cp:{outbox}:counts"
"""hash: dropped (hints, since the limit was reached), dropped_at (ms), swept (score of DONE)."""
APPROVALS = "cp:approvals"
"""zset: what waits for somebody's approval -> since when (ms). ``{workflow_id}\t{path}`` for a
state of a run; members of three parts belong to agents outside runs. A hint: documents decide."""
COMPANIONS = "cp:companions"
"""zset: ``{session_id}/{companion_id}`` -> when its seat ends, kept by a process (ms)."""
EXTERNAL_COMPANIONS = "cp:companions:external"
"""zset: the same for companions that are served from outside, by MCP clients."""
COMPANION_HOSTS = "cp:companions:hosts"
"""zset: ``{session_id or nothing}/{host}`` -> until when its last sign of life holds (ms)."""
SESSIONS_DUE = "cp:sessions:due"
"""zset: session -> when to look at it next (ms)."""

Step = str | int
"""A part of a path: a state's name, or the number of an iteration or branch."""


def check_workflow_id(workflow_id: str) -> str:
    """``workflow_id`` itself. Raises BadName unless it matches ``[A-Za-z0-9_-]{1,64}``."""
    if not _WORKFLOW_ID.fullmatch(workflow_id):
        raise BadName(
            what="workflow id", value=workflow_id, rule="1 to 64 characters of A-Z a-z 0-9 _ -"
        )
    return workflow_id


@lru_cache(maxsize=4096)
def encode_name(name: str) -> str:
    """A state name as it stands in a path: structural characters percent-encoded."""
    return _STRUCTURAL.sub(lambda match: f"%{ord(match.group()):02X}", name)


@lru_cache(maxsize=4096)
def split_path(path: str) -> tuple[Step, ...]:
    """``Fan[2]/Fetch`` -> ``("Fan", 2, "Fetch")``; the ``@visit`` of earlier visits is dropped."""
    steps: list[Step] = []
    for segment in path.partition("@")[0].split("/"):
        match = _SEGMENT.fullmatch(segment)
        if match is None:
            raise BadName(what="path", value=path, rule="name[number]/name…, names percent-encoded")
        steps.append(unquote(match[1]))
        if match[2] is not None:
            steps.append(int(match[2]))
    return tuple(steps)


def frame_of(path: str) -> str:
    """The frame a state stands in: ``Fan[2]`` for ``Fan[2]/Fetch``, ``""`` for the root frame."""
    return path.rpartition("/")[0]


def sibling(path: str, name: str) -> str:
    """The path of state ``name`` in the frame of ``path``."""
    frame = frame_of(path)
    return f"{frame}/{encode_name(name)}" if frame else encode_name(name)


def inside(frame: str, name: str) -> str:
    """The path of state ``name`` in ``frame`` (``""`` is the root frame)."""
    return f"{frame}/{encode_name(name)}" if frame else encode_name(name)


def enclosing_joins(path: str) -> list[tuple[str, int]]:
    """The Map and Parallel states above ``path`` with the iteration or branch, outermost first."""
    joins = []
    parts = path.partition("@")[0].split("/")
    for depth, segment in enumerate(parts):
        match = _SEGMENT.fullmatch(segment)
        if match is not None and match[2] is not None:
            joins.append(("/".join([*parts[:depth], match[1]]), int(match[2])))
    return joins


@dataclass(frozen=True, slots=True)
class RunKeys:
    """The keys of one run. With ``cluster`` the id is a hash tag: one run, one slot."""

    workflow_id: str
    cluster: bool = False

    def _name(self, plane: str, rest: str) -> str:
        run = f"{{{self.workflow_id}}}" if self.cluster else self.workflow_id
        return f"{plane}:wf:{run}:{rest}"

    @property
    def meta(self) -> str:
        return self._name("cp", "meta")

    @property
    def history(self) -> str:
        return self._name("cp", "history")

    @property
    def chain(self) -> str:
        return self._name("cp", "chain")

    @property
    def due(self) -> str:
        return self._name("cp", "due")

    @property
    def paths(self) -> str:
        return self._name("cp", "paths")

    @property
    def stage(self) -> str:
        """Where the script of a submission puts what it is not sure to be able to keep."""
        return self._name("cp", "stage")

    @property
    def blobs(self) -> str:
        return self._name("cp", "blobs")

    @property
    def agents(self) -> str:
        """hash: state -> the agent that it is assigned to."""
        return self._name("cp", "agents")

    @property
    def audit(self) -> str:
        return self._name("dp", "audit:finalize")

    def state(self, path: str) -> str:
        return self._name("cp", f"state:{path}")

    def output(self, path: str) -> str:
        return self._name("dp", f"output:{path}")

    def calls(self, path: str) -> str:
        return self._name("dp", f"calls:{path}")

    def control(self, name: str) -> str:
        """A key of the run's control that no other method has."""
        return self._name("cp", name)

    def data(self, name: str) -> str:
        """A key of the run's data that no other method has."""
        return self._name("dp", name)

    def blob(self, sha256: str) -> str:
        return self._name("dp", f"blob:{sha256}")


def approval_member(workflow_id: str, path: str) -> str:
    """How a state of a run stands in the index of approvals."""
    return f"{workflow_id}\t{path}"


def turn(session_id: str) -> str:
    """Who speaks for the conductor of a session at the moment, if that is an agent."""
    return f"cp:turn:{session_id}"


def progress(session_id: str, task_id: str) -> str:
    """There for a moment after the progress of a task was told."""
    return f"cp:progress:{session_id}:{task_id}"


def runs(status: str) -> str:
    """The runs of one status: a sorted set, run -> when it was made (ms)."""
    return f"cp:{{runs}}:{status}"


def queue(pool: str) -> str:
    """The stream of hints for the workers of ``pool``."""
    return f"cp:queue:{pool}"


def reader(name: str) -> str:
    """string: there for an hour after ``name`` read queues last; its time to live says when."""
    return f"cp:reader:{name}"
