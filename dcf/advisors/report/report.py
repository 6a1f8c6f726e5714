"""A report as parts that can be shown anywhere: text, tables, charts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """Cells are plain text. ``numeric`` are the columns (from 0) that read better to the right."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Bar:
    """``value`` from 0 to 1; ``low`` to ``high``, if given, is how sure that is. ``note`` is
    written behind it."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """Shares, one under the other. ``title`` says what is shown; the table says the same."""

    title: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """What somebody may type who wants to know more."""

    line: str
    what: str


@dataclass(frozen=True, slots=True)
class Section:
    """One question and its answer."""

    title: str
    text: tuple[str, ...] = ()
    table: Table | None = None
    chart: Chart | None = None
    commands: tuple[Command, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    title: str
    sections: tuple[Section, ...]

    def opening_with(self, section: Section) -> Report:
        """The same report with another first section."""
        return Report(self.title, (section, *self.sections))
