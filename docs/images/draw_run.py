"""Draw the end of a recorded run: ``python docs/images/draw_run.py run.json > run.svg``.

Who held what, and when, is read from the history as ``dcf history`` reads it. The picture begins
shortly before the last join, so that the accident has room.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any

from control_plane.history import HistoryEvent
from dcf.workflow import Moment, Timeline

WIDTH, LEFT, RIGHT, TOP = 960, 92, 24, 96
BAR, GAP, LANE_GAP = 24, 5, 62
BEFORE_S = 0.35
INK, MUTED, PAPER = "#1f2933", "#66727f", "#ffffff"
COLOURS = {"worker-A": "#2f6fb7", "worker-B": "#2f8f5b"}
RED = "#c0392b"
_ENDS = {"StateDone", "StateFailed", "FannedOut", "FrameOpened", "WaitStarted", "RetryScheduled"}
_NARROWEST = 1.5


@dataclass
class Span:
    """A lease of one state: seconds since the first event."""

    who: str
    path: str
    start: float
    end: float
    row: int = 0


def moments_of(history: list[dict[str, Any]]) -> tuple[list[Moment], float]:
    """The timeline, and when it starts (seconds since the epoch)."""
    timeline = Timeline()
    stamps = []
    for entry in history:
        said = {key: value for key, value in entry.items() if key not in ("at", "digest")}
        at = datetime.fromisoformat(entry["at"]).timestamp()
        stamps.append(at)
        timeline.add(HistoryEvent("", round(at * 1000), said, ""))
    return timeline.moments, stamps[0]


def spans_of(moments: list[Moment]) -> list[Span]:
    """What each worker held, in order of time."""
    begun: dict[str, float] = {}
    spans = []
    for moment in moments:
        if moment.type == "LeaseAcquired":
            begun[moment.path] = moment.offset_s
        if moment.type in _ENDS and moment.path in begun:
            spans.append(Span(moment.who, moment.path, begun.pop(moment.path), moment.offset_s))
        if moment.type == "LeaseExpired" and moment.path in begun:
            spans.append(Span(moment.who, moment.path, begun.pop(moment.path), moment.offset_s))
        if moment.details.get("next"):
            begun.setdefault(str(moment.details["next"]), moment.offset_s)
        elif moment.type == "FannedOut":
            begun.setdefault(f"{moment.path}[0]", moment.offset_s)
        elif moment.type == "Joined":
            begun.setdefault(moment.path, moment.offset_s)
    return spans


def arrange(spans: list[Span]) -> int:
    """Give spans that overlap rows of their own; how many rows there are."""
    ends: list[float] = []
    for span in sorted(spans, key=lambda one: (one.start, one.end)):
        row = next((row for row, end in enumerate(ends) if end <= span.start), len(ends))
        ends[row : row + 1] = [span.end]
        span.row = row
    return len(ends)


class Drawing:
    """Collects the elements of the picture. ``left`` is the time at the left edge, in seconds."""

    def __init__(self, left: float, right: float) -> None:
        self.parts: list[str] = []
        self._left = left
        self._scale = (WIDTH - LEFT - RIGHT) / (right - left)

    def x(self, seconds: float) -> float:
        return LEFT + (seconds - self._left) * self._scale

    def text(self, x: float, y: float, words: str, **style: str) -> None:
        style = {"font-size": "13", "fill": INK, **style}
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}"{_style(style)}>{escape(words)}</text>')

    def box(self, start: float, end: float, y: float, **style: str) -> float:
        """A bar from ``start`` to ``end`` (seconds); its width."""
        width = max(self.x(end) - self.x(start), _NARROWEST)
        self.parts.append(
            f'<rect x="{self.x(start):.1f}" y="{y:.1f}" width="{width:.1f}" height="{BAR}" '
            f'rx="3"{_style(style)}/>'
        )
        return width

    def line(self, seconds: float, top: float, bottom: float, **style: str) -> None:
        x = f"{self.x(seconds):.1f}"
        ends = f'x1="{x}" y1="{top:.1f}" x2="{x}" y2="{bottom:.1f}"'
        self.parts.append(f"<line {ends}{_style(style)}/>")


def draw(recorded: dict[str, Any]) -> str:
    """The picture as SVG."""
    moments, start = moments_of(recorded["history"])
    killed = recorded["killed"]
    killed_s = killed["at"] - start
    joined = max(moment.offset_s for moment in moments if moment.type == "Joined")
    left, right = joined - BEFORE_S, moments[-1].offset_s + 0.35
    spans = [span for span in spans_of(moments) if span.end > left]
    for span in spans:
        span.start = max(span.start, left)
    workers = sorted({span.who for span in spans if span.who})
    drawing = Drawing(left, right)
    y = float(TOP)
    tops: dict[str, float] = {}
    for who in workers:
        tops[who] = y
        mine = [span for span in spans if span.who == who]
        rows = arrange(mine)
        drawing.text(14, y + 17, who, **{"font-weight": "600", "fill": COLOURS[who]})
        for span in mine:
            _bar(drawing, span, y + span.row * (BAR + GAP), killed, killed_s)
        y += rows * (BAR + GAP) + LANE_GAP
    _commits(drawing, moments, y)
    dead = next(span for span in spans if span.path == killed["state"] and span.end > killed_s)
    heir = next(one for one in spans if one.path == killed["state"] and one.who != killed["who"])
    _accident(drawing, killed_s, dead, heir, y)
    _heading(drawing, recorded)
    _axis(drawing, left, right, y + 34)
    height = int(y + 66)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" font-family="Helvetica, Arial, sans-serif" role="img" '
        'aria-label="Timeline of a run: one worker is killed, another takes over">'
    )
    pattern = (
        '<defs><pattern id="gone" width="6" height="6" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><rect width="6" height="6" fill="#fbe9e7"/>'
        f'<line x1="0" y1="0" x2="0" y2="6" stroke="{RED}" stroke-width="2"/></pattern></defs>'
    )
    paper = f'<rect width="{WIDTH}" height="{height}" rx="8" fill="{PAPER}" stroke="#d5dbe1"/>'
    return "\n".join([head, pattern, paper, *drawing.parts, "</svg>"]) + "\n"


def _bar(drawing: Drawing, span: Span, y: float, killed: dict[str, Any], killed_s: float) -> None:
    end = span.end
    if span.path == killed["state"] and span.who == killed["who"]:
        drawing.box(killed_s, span.end, y, fill="url(#gone)", stroke=RED)
        end = killed_s
    title = f"{span.path}: {span.end - span.start:.3f} s"
    drawing.parts.append(f"<g><title>{escape(title)}</title>")
    width = drawing.box(span.start, end, y, fill=COLOURS[span.who])
    drawing.parts.append("</g>")
    name = span.path.rpartition("/")[2]
    if len(name) * 8 < width:
        drawing.text(drawing.x(span.start) + 6, y + 17, name, fill=PAPER)
    elif width >= 2 * _NARROWEST:
        x, below = drawing.x(span.start) + width / 2 - 3, y + BAR + 12
        turned = f"rotate(32 {x:.1f} {below:.1f})"
        drawing.text(x, below, name, **{"font-size": "11", "fill": MUTED, "transform": turned})


def _commits(drawing: Drawing, moments: list[Moment], y: float) -> None:
    drawing.text(14, y + 13, "commits", **{"font-weight": "600"})
    for moment in moments:
        if moment.type in _ENDS and drawing.x(moment.offset_s) > LEFT:
            drawing.line(moment.offset_s, y, y + 16, stroke=INK, **{"stroke-width": "1.2"})


def _accident(drawing: Drawing, killed_s: float, dead: Span, heir: Span, bottom: float) -> None:
    style = {"stroke": RED, "stroke-width": "1.4", "stroke-dasharray": "4 3"}
    drawing.line(killed_s, TOP - 18, bottom + 16, **style)
    drawing.line(dead.end, TOP - 18, bottom + 16, **{**style, "stroke": MUTED})
    bold = {"font-weight": "600", "text-anchor": "end"}
    drawing.text(drawing.x(killed_s) - 6, TOP - 6, "kill -9", **{**bold, "fill": RED})
    over = f"lease over: {heir.who} takes over"
    drawing.text(drawing.x(dead.end) - 6, TOP - 6, over, **bold)
    left_behind = (
        f"its lease stays for {dead.end - killed_s:.1f} s; until then nobody takes the state"
    )
    drawing.text(drawing.x(killed_s) + 6, TOP + BAR + 16, left_behind, fill=RED)


def _heading(drawing: Drawing, recorded: dict[str, Any]) -> None:
    killed = recorded["killed"]
    call = recorded["repeated"][-1]
    drawing.text(14, 26, "The end of an order: two workers, one accident", **{"font-size": "17"})
    words = (
        f"{killed['who']} dies in {killed['state']}. The other one repeats its tool calls with the "
        f"same idempotency keys. {call['tool'].rpartition(':')[2]}: called twice, done once."
    )
    drawing.text(14, 47, words, fill=MUTED)


def _axis(drawing: Drawing, left: float, right: float, y: float) -> None:
    for second in range(int(left) + 1, int(right) + 1):
        drawing.line(second, y - 6, y, stroke=MUTED)
        small = {"font-size": "11", "fill": MUTED, "text-anchor": "middle"}
        drawing.text(drawing.x(second), y + 13, f"{second} s", **small)


def _style(style: dict[str, str]) -> str:
    return "".join(f' {key}="{value}"' for key, value in style.items())


if __name__ == "__main__":
    sys.stdout.write(draw(json.loads(Path(sys.argv[1]).read_text("utf-8"))))
