"""Testing skills: every case of their tools, and their own tests, called over MCP and compared.

::

    report = await run_plan(make_plan(Path("generated"), Choice(skills=("orders.quote",))))
    report.ok, report.counts, report.coverage
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.skill_tests.junit import junit_xml
    from dcf.skill_tests.outcome import Outcome
    from dcf.skill_tests.plan import Choice, NothingToTest, Plan, SkillTest, make_plan
    from dcf.skill_tests.report import Coverage, Report
    from dcf.skill_tests.run import run_plan
else:
    export_late(__name__)

__all__ = [
    "Choice",
    "Coverage",
    "NothingToTest",
    "Outcome",
    "Plan",
    "Report",
    "SkillTest",
    "junit_xml",
    "make_plan",
    "run_plan",
]
