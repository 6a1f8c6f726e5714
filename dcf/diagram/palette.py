"""The colours of the picture, for light and for dark surroundings.

Text on its ground has a contrast of at least 4.5, lines and borders one of at least 3 (WCAG 2.2).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Theme:
    """``kinds`` are ground and border of states by type, ``statuses`` by what a run did."""

    paper: str
    frame: str
    ink: str
    muted: str
    line: str
    error: str
    taken: str
    kinds: dict[str, tuple[str, str]]
    statuses: dict[str, tuple[str, str]]


LIGHT = Theme(
    paper="#ffffff",
    frame="#f6f8fa",
    ink="#1a2230",
    muted="#4d5866",
    line="#66727f",
    error="#b3261e",
    taken="#0b57c2",
    kinds={
        "Task": ("#e7f0fd", "#2f6fb7"),
        "Pass": ("#f1f3f5", "#66727f"),
        "Choice": ("#fdf3d7", "#996c00"),
        "Wait": ("#efe9fb", "#7350b8"),
        "Succeed": ("#e2f5e8", "#1f7a43"),
        "Fail": ("#fdeae8", "#b3261e"),
        "Map": ("#eef7f7", "#1d7a80"),
        "Parallel": ("#f1f4fb", "#5866a8"),
        "missing": ("#ffffff", "#b3261e"),
        "reference": ("#ffffff", "#8a949f"),
        "other": ("#ffffff", "#66727f"),
    },
    statuses={
        "done": ("#dcf3e3", "#1f7a43"),
        "failed": ("#fbdcd9", "#b3261e"),
        "running": ("#d9e8fd", "#0b57c2"),
        "waiting": ("#fcefc7", "#8a6100"),
        "ready": ("#e6eefb", "#4a6fa8"),
        "pending": ("#ffffff", "#7c8793"),
        "cancelled": ("#e6e8eb", "#5d6873"),
        "skipped": ("#f3f4f6", "#7c8793"),
        "untouched": ("#ffffff", "#8a949f"),
    },
)

DARK = Theme(
    paper="#12161c",
    frame="#1a2028",
    ink="#eef2f6",
    muted="#b3bdc8",
    line="#94a0ad",
    error="#ff8a80",
    taken="#7db4ff",
    kinds={
        "Task": ("#16304f", "#6ba6ea"),
        "Pass": ("#262d36", "#94a0ad"),
        "Choice": ("#3d310e", "#d9a92e"),
        "Wait": ("#2e2449", "#a98be6"),
        "Succeed": ("#143521", "#58b97f"),
        "Fail": ("#451a17", "#ff8a80"),
        "Map": ("#12292b", "#4fb3ba"),
        "Parallel": ("#1d2236", "#8f9ee0"),
        "missing": ("#12161c", "#ff8a80"),
        "reference": ("#12161c", "#7a8592"),
        "other": ("#12161c", "#94a0ad"),
    },
    statuses={
        "done": ("#163d25", "#58b97f"),
        "failed": ("#4d1c18", "#ff8a80"),
        "running": ("#14335c", "#7db4ff"),
        "waiting": ("#43350c", "#e0b23c"),
        "ready": ("#1d2c45", "#8fb0e0"),
        "pending": ("#12161c", "#8b96a3"),
        "cancelled": ("#2b323b", "#a3adb8"),
        "skipped": ("#1c2229", "#8b96a3"),
        "untouched": ("#12161c", "#7a8592"),
    },
)
