"""What the frames of one round of a join came to, from their documents."""

from __future__ import annotations

from collections.abc import Iterator

from control_plane import StateDocument
from control_plane.payload import JSON
from dcf.simulation.evidence import Evidence


def joined_results(evidence: Evidence, parent: str, round_: int, count: int) -> list[JSON]:
    """The outputs of the frames of ``parent`` in that round, in order. Raises LookupError."""
    results = []
    for number in range(count):
        _, frame = _last(evidence, f"{parent}[{number}]", round_, "done")
        if frame.exit is None:
            raise LookupError(f"{parent}[{number}] is done without a state that ended it")
        name, _ = _last(evidence, frame.exit, round_, "done")
        results.append(evidence.data(name))
    return results


def failed_child(evidence: Evidence, parent: str, round_: int) -> tuple[str, str]:
    """Error and cause of the frame that failed in that round. Raises LookupError."""
    for name, document in evidence.documents.items():
        frame = name.partition("@")[0]
        is_mine = frame.rpartition("[")[0] == parent and document.kind == "frame"
        if is_mine and document.round == round_ and document.status == "failed":
            if document.error is None:
                raise LookupError(f"{name} failed without an error")
            return document.error.error, document.error.cause
    raise LookupError(f"no frame of {parent} failed in round {round_}")


def _last(evidence: Evidence, path: str, round_: int, status: str) -> tuple[str, StateDocument]:
    def found() -> Iterator[tuple[int, str, StateDocument]]:
        for name, document in evidence.documents.items():
            same = name.partition("@")[0] == path and document.round == round_
            if same and document.status == status:
                yield document.visit, name, document

    visits = sorted(found(), key=lambda item: item[0])
    if not visits:
        raise LookupError(f"{path} was never {status} in round {round_}")
    _, name, document = visits[-1]
    return name, document
