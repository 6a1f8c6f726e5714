"""Checks of how a run ended: that it did, that it is clean, that cancelled is no success."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from control_plane import DONE, INDEX, RunKeys, run_lists
from control_plane import keys as redis_keys
from control_plane.twin import Twin
from dcf.simulation.evidence import Evidence
from dcf.simulation.server import GROUP, POOL
from dcf.simulation.violation import Violation
from dcf.simulation.virtual_loop import at_once
from dcf.simulation.witness import Witness

_HEXADECIMAL = re.compile(r"[0-9a-f]{32,}")
_TOKEN = 32


def check_end(evidence: Evidence, twin: Twin) -> Iterator[Violation]:
    """A run that is over has nothing open and stands where finished runs stand."""
    run, meta = evidence.run, evidence.meta
    if not meta.is_over:
        open_ = {path: d.status for path, d in evidence.documents.items() if d.is_open}
        yield Violation("ends", run, f"it is still {meta.status}; open: {open_}")
        return
    if evidence.audit is None or meta.finalized_at is None:
        yield Violation("clean", run, f"it is {meta.status} and was never finalized")
        return
    left = sorted(path for path, document in evidence.documents.items() if document.is_open)
    if left:
        yield Violation("clean", run, f"still open after the end: {left}")
    if at_once(twin.command("EXISTS", RunKeys(run).due)):
        yield Violation("clean", run, "something is still due after the end")
    if at_once(twin.command("ZSCORE", INDEX, run)) is not None:
        yield Violation("clean", run, "it still stands in the index of active runs")
    if at_once(twin.command("ZSCORE", DONE, run)) is None:
        yield Violation("clean", run, "it does not stand among the finished runs")
    lists = [
        status
        for status in run_lists.STATUSES
        if at_once(twin.command("ZSCORE", redis_keys.runs(status), run)) is not None
    ]
    if lists != [meta.status]:
        yield Violation("clean", run, f"it is {meta.status} and stands in the lists of {lists}")
    yield from _check_audit(evidence, evidence.audit)


def _check_audit(evidence: Evidence, audit: dict[str, Any]) -> Iterator[Violation]:
    run, status = evidence.run, evidence.meta.status
    current = [
        document
        for path, document in evidence.documents.items()
        if "@" not in path and document.kind == "state"
    ]
    done = sum(document.status == "done" for document in current)
    cancelled = sum(document.status == "cancelled" for document in current)
    counts = audit["states"]
    if audit["final_status"] != status:
        yield Violation("clean", run, f"the audit says {audit['final_status']}, not {status}")
    if (counts["succeeded"], counts["cancelled"], counts["open"]) != (done, cancelled, 0):
        seen = f"{done} states are done and {cancelled} cancelled, the audit counts {counts}"
        yield Violation("cancelled", run, seen)
    exit_ = evidence.documents.get(evidence.meta.exit or "")
    if status == "succeeded" and (exit_ is None or exit_.status != "done"):
        yield Violation("cancelled", run, f"it succeeded without a state that ended it: {exit_}")


def check_server(twin: Twin, witness: Witness) -> Iterator[Violation]:
    """Nothing is queued for ever, and no token can be read anywhere."""
    stream = redis_keys.queue(POOL)
    queued = at_once(twin.command("XLEN", stream))
    pending = at_once(twin.command("XPENDING", stream, GROUP))[0]
    if queued or pending:
        yield Violation("clean", "", f"{queued} hints stay queued, {pending} in somebody's hands")
    for key, content in twin.dump().items():
        for found in _HEXADECIMAL.findall(str(content["value"])):
            windows = range(len(found) - _TOKEN + 1)
            if any(found[at : at + _TOKEN] in witness.tokens for at in windows):
                yield Violation("secret", "", f"{key} holds a token: {found}")
