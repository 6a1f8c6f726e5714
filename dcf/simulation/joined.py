"""What the frames of one round of a join came to, from their documents."""

from __future__ import annotations

from collections.abc import Iterator

from control_plane import JSON, StateDocument
from dcf import asl
from dcf.simulation.evidence import Evidence


def joined_results(evidence: Evidence, parent: str, opening: int, count: int) -> asl.Joined:
    """What the frames came to that the ``opening``-th fan-out (from 1) of ``parent`` made: their
    outputs in order, and the failures that were tolerated. Raises LookupError."""
    round_ = _round(evidence, parent, opening)
    results: list[JSON] = []
    failures = {}
    for number in range(count):
        frame = _last(evidence, f"{parent}[{number}]", round_, "done", "failed")[1]
        if frame.status == "failed":
            if frame.error is None:
                raise LookupError(f"{frame.path} failed without an error")
            results.append(None)
            failures[number] = (frame.error.error, frame.error.cause)
            continue
        if frame.exit is None:
            raise LookupError(f"{parent}[{number}] is done without a state that ended it")
        name, _ = _last(evidence, frame.exit, round_, "done")
        results.append(evidence.data(name))
    return asl.Joined(results, failures)


def failed_child(evidence: Evidence, parent: str, opening: int) -> tuple[str | None, str | None]:
    """Error and cause of a frame that failed after the ``opening``-th fan-out: of its first visit,
    since later ones come from redrives. Raises LookupError."""
    round_ = _round(evidence, parent, opening)
    failed = [
        document
        for name, document in evidence.documents.items()
        if name.partition("@")[0].rpartition("[")[0] == parent
        and (document.kind, document.round, document.status) == ("frame", round_, "failed")
    ]
    if not failed:
        raise LookupError(f"no frame of {parent} failed in round {round_}")
    first = min(failed, key=lambda document: document.visit)
    if first.error is None:
        raise LookupError(f"{first.path} failed without an error")
    return first.error.error, first.error.cause


def _round(evidence: Evidence, parent: str, opening: int) -> int:
    """The round of a fan-out: rounds only grow, each has a frame."""
    rounds = sorted(
        {
            document.round
            for name, document in evidence.documents.items()
            if document.kind == "frame" and name.partition("@")[0].rpartition("[")[0] == parent
        }
    )
    if len(rounds) < opening:
        raise LookupError(f"{parent} fanned out {opening} times, its frames know {len(rounds)}")
    return rounds[opening - 1]


def _last(evidence: Evidence, path: str, round_: int, *statuses: str) -> tuple[str, StateDocument]:
    def found() -> Iterator[tuple[int, str, StateDocument]]:
        for name, document in evidence.documents.items():
            same = name.partition("@")[0] == path and document.round == round_
            if same and document.status in statuses:
                yield document.visit, name, document

    visits = sorted(found(), key=lambda item: item[0])
    if not visits:
        raise LookupError(f"{path} was never {statuses} in round {round_}")
    _, name, document = visits[-1]
    return name, document
