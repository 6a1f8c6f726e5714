"""A reflection for people: Markdown, and HTML with charts."""

from __future__ import annotations

from dcf.advisors.report.content import report_of
from dcf.advisors.report.html import html_of
from dcf.advisors.report.markdown import markdown_of
from dcf.advisors.report.report import Bar, Chart, Command, Report, Section, Table
from dcf.advisors.report.run_content import run_section

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
