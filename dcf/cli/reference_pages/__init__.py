"""Reference pages made from the product itself, so that they cannot fall behind it."""

from __future__ import annotations

from collections.abc import Callable

from dcf.cli.reference_pages.asl import asl_page
from dcf.cli.reference_pages.commands import commands_page
from dcf.cli.reference_pages.errors import errors_page
from dcf.cli.reference_pages.experiment_calls import experiment_page
from dcf.cli.reference_pages.mcp_tools import mcp_tools_page
from dcf.cli.reference_pages.mutants import mutants_page
from dcf.cli.reference_pages.path_places import path_places_page
from dcf.cli.reference_pages.problems import problems_page
from dcf.cli.reference_pages.scripts import scripts_page

PAGES: dict[str, Callable[[], str]] = {
    "asl.md": asl_page,
    "cli.md": commands_page,
    "errors.md": errors_page,
    "experiment.md": experiment_page,
    "mcp-tools.md": mcp_tools_page,
    "mutants.md": mutants_page,
    "paths.md": path_places_page,
    "problems.md": problems_page,
    "scripts.md": scripts_page,
}

__all__ = ["PAGES"]
