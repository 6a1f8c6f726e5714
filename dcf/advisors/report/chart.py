"""Charts as SVG inside a page: shares as bars, with what is sure of them as whiskers."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from dcf.advisors.report.report import Bar, Chart

_ROW = 40
_NAME = 16
"""Of a row's height its name has so much, above the bar: names may be as long as the page is wide,
and on a narrow page the bars are still seen."""
_TOP = 8
_LEFT = 14
_WIDTH = 640
_NOTES = 130
_AXIS = _WIDTH - _LEFT - _NOTES
_LETTERS = 76
"""Of a name; all of it is in the tooltip and in the table."""


def svg_of(chart: Chart, number: int) -> str:
    """The chart as an ``<svg>`` that a screen reader can read; colours come from the page's style.
    ``number`` keeps ids apart in one page."""
    height = _TOP + _ROW * len(chart.bars) + 26
    parts = [
        f'<svg class="chart" role="img" viewBox="0 0 {_WIDTH} {height}" '
        f'aria-labelledby="chart{number}-title chart{number}-desc">',
        f'<title id="chart{number}-title">{escape(chart.title)}</title>',
        f'<desc id="chart{number}-desc">{escape(_spoken(chart))}</desc>',
        *_grid(len(chart.bars)),
    ]
    for at, bar in enumerate(chart.bars):
        parts += _bar(bar, _TOP + at * _ROW)
    return "\n".join([*parts, "</svg>"])


def _bar(bar: Bar, y: float) -> Iterator[str]:
    middle = y + (_ROW + _NAME) / 2
    yield f"<g><title>{escape(_said(bar))}</title>"
    yield f'<text class="name" x="{_LEFT}" y="{y + _NAME - 2}">{escape(_cut(bar.name))}</text>'
    end = _x(bar.value)
    if bar.low is None or bar.high is None:
        yield (
            f'<rect class="bar" x="{_LEFT}" y="{middle - 6:.1f}" rx="2" '
            f'width="{max(end - _LEFT, 1):.1f}" height="12"/>'
        )
    else:
        low, high = _x(bar.low), _x(bar.high)
        yield f'<line class="whisker" x1="{low:.1f}" x2="{high:.1f}" y1="{middle}" y2="{middle}"/>'
        for tip in (low, high):
            yield (
                f'<line class="whisker" x1="{tip:.1f}" x2="{tip:.1f}" '
                f'y1="{middle - 5}" y2="{middle + 5}"/>'
            )
        yield f'<circle class="dot" cx="{end:.1f}" cy="{middle}" r="5"/>'
    note = f"{bar.value * 100:.1f} %" + (f"  {bar.note}" if bar.note else "")
    beside = _WIDTH - _NOTES + 12
    yield f'<text class="note" x="{beside}" y="{middle + 4:.1f}">{escape(note)}</text>'
    yield "</g>"


def _cut(name: str) -> str:
    """Without its middle if it is long: names that belong together differ at their ends."""
    if len(name) <= _LETTERS:
        return name
    return f"{name[: _LETTERS // 2 - 1]}…{name[-(_LETTERS // 2) :]}"


def _grid(rows: int) -> Iterator[str]:
    bottom = _TOP + rows * _ROW
    for tenth in (0, 2, 4, 6, 8, 10):
        x = _x(tenth / 10)
        yield f'<line class="grid" x1="{x}" x2="{x}" y1="{_TOP}" y2="{bottom}"/>'
        yield f'<text class="tick" x="{x}" y="{bottom + 18}">{tenth * 10} %</text>'


def _x(share: float) -> float:
    return _LEFT + _AXIS * min(max(share, 0.0), 1.0)


def _said(bar: Bar) -> str:
    sure = ""
    if bar.low is not None and bar.high is not None:
        sure = f", between {bar.low * 100:.1f} and {bar.high * 100:.1f} %"
    return f"{bar.name}: {bar.value * 100:.1f} %{sure}{f' ({bar.note})' if bar.note else ''}"


def _spoken(chart: Chart) -> str:
    return "; ".join(_said(bar) for bar in chart.bars)
