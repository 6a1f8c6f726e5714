"""Checks of what comes after the end: a run is exported, removed, put back, and removed again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from control_plane import DONE, INDEX, RunExists, Script, Store, export_run, restore_run, run_lists
from control_plane import keys as redis_keys
from control_plane.twin import Twin
from dcf.simulation.evidence import Evidence
from dcf.simulation.examination import Examination
from dcf.simulation.network import SureBackend, tokens_of
from dcf.simulation.server import EXAMINER, POOL, Server
from dcf.simulation.violation import Violation
from dcf.simulation.virtual_loop import at_once

_MOST_CALLS = 1_000
_ORDERED = (DONE, INDEX, *map(redis_keys.runs, run_lists.STATUSES))


def check_removal(evidence: Evidence, server: Server) -> Iterator[Violation]:
    """A run that is removed leaves nothing, and one that is put back is as it was."""
    run, twin = evidence.run, server.twin
    store = Store(_Impatient(server, EXAMINER), pool=POOL, tokens=tokens_of(f"removal {run}"))
    if evidence.meta.finalized_at is None:
        return
    before = traces(twin, run)
    export = at_once(export_run(store, run))
    at_once(store.remove(run))
    if left := traces(twin, run):
        yield Violation("removed", run, f"it was removed, and left {sorted(left)}")
    at_once(restore_run(store, export))
    after = traces(twin, run)
    if changed := sorted(key for key in before.keys() | after if before.get(key) != after.get(key)):
        yield Violation("removed", run, f"it was put back, and is not as it was: {changed}")
    try:
        at_once(restore_run(store, export))
        yield Violation("removed", run, "it was put back over itself")
    except RunExists:
        at_once(store.remove(run))
    if left := traces(twin, run):
        yield Violation("removed", run, f"it was removed again, and left {sorted(left)}")
    at_once(restore_run(store, export))
    Examination(evidence, store).hold()


class _Impatient(SureBackend):
    """A backend that breaks off what goes on and on."""

    _calls = 0

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        """See ``Backend.run``."""
        self._calls += 1
        if self._calls > _MOST_CALLS:
            raise LookupError(f"it goes on for more than {_MOST_CALLS} calls")
        return await super().run(script, keys, args)


def traces(twin: Twin, run: str) -> dict[str, Any]:
    """What there is of a run, by key; and in which lists it stands."""
    places = (f"cp:wf:{run}:", f"dp:wf:{run}:")
    found = {key: held["value"] for key, held in twin.dump().items() if key.startswith(places)}
    for key in _ORDERED:
        if (score := at_once(twin.command("ZSCORE", key, run))) is not None:
            # When it was put back is when it ends anew, for whoever removes old runs.
            found[key] = None if key == DONE else score
    return found
