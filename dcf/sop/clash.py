"""Names that several lanes of a parallel step write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dcf.sop.step import Lane, Step

Lines = Mapping[int, int]
"""By the index of a lane, the line where it writes the name first; 0 without a source."""


def clashes(step: Step) -> dict[str, Lines]:
    """The names that more than one lane of ``step`` writes, in reading order. What the turns of a
    loop write is collected by the loop, so it is no clash."""
    found: dict[str, dict[int, int]] = {}
    for index, lane in enumerate(step.lanes):
        for name, line in _written(lane.steps).items():
            found.setdefault(name, {})[index] = line
    return {name: lines for name, lines in found.items() if len(lines) > 1}


def _written(steps: Sequence[Step]) -> dict[str, int]:
    """The names that ``steps`` leave, each with the line where it is written first."""
    found: dict[str, int] = {}
    for step in steps:
        for write in step.writes:
            found.setdefault(write.target, write.line or step.line)
        for lane in step.lanes:
            for name, line in _written(lane.steps).items():
                found.setdefault(name, line)
    return found


def lane_name(lanes: Sequence[Lane], index: int) -> str:
    """How a lane is called in a message: by its title, or its place, which counts from 1."""
    title = lanes[index].title
    return f"{title!r}" if title else str(index + 1)
