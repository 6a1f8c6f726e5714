"""A reflection for people: Markdown, and HTML with charts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.advisors.report.content import report_of
    from dcf.advisors.report.html import html_of
    from dcf.advisors.report.markdown import markdown_of
    from dcf.advisors.report.report import Bar, Chart, Command, Report, Section, Table
    from dcf.advisors.report.run_content import run_section
else:
    export_late(__name__)

__all__ = [
    "Bar",
    "Chart",
    "Command",
    "Report",
    "Section",
    "Table",
    "html_of",
    "markdown_of",
    "report_of",
    "run_section",
]
