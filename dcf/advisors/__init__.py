"""Those who read finished runs and advise the next ones.

The Reflector: ``reflect`` analyses outcomes by code, says what they show as insights with their
evidence, publishes what is sure enough as guidelines and follows what became of earlier advice.
``report_of`` shows it to people. The rest are the functions behind the tools of MCP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.advisors.analysis import Analysis, Collector, Contest, analyse
    from dcf.advisors.errors import (
        AdvisorProblem,
        AnotherReflector,
        NotJson,
        NotRegistered,
        OneAgentTwice,
        RunNotOver,
    )
    from dcf.advisors.reflector.board import GuidelinesBoard
    from dcf.advisors.reflector.desk import reflector_of
    from dcf.advisors.reflector.phrasing import phrased
    from dcf.advisors.reflector.reflecting import Reflection, SeenBefore, reflect, reflect_on_file
    from dcf.advisors.reflector.registration import Registered, open_board, register_reflector
    from dcf.advisors.reflector.seen_before import with_playbooks
    from dcf.advisors.reflector.shared_blocks import SharedBlocks, read_shared_memory_blocks
    from dcf.advisors.reflector.source import Sink, Source
    from dcf.advisors.reflector.triggering import (
        ReflectionTriggered,
        reflection_event,
        send_reflection,
        status_warnings,
        trigger_reflection,
    )
    from dcf.advisors.reflector.updating import GuidelinesUpdated, update_reflector_guidelines
    from dcf.advisors.reflector.wishing import publish_wish, withdraw_wishes
    from dcf.advisors.report import (
        Report,
        Section,
        Table,
        html_of,
        markdown_of,
        report_of,
        run_section,
    )
else:
    export_late(__name__)

__all__ = [
    "AdvisorProblem",
    "Analysis",
    "AnotherReflector",
    "Collector",
    "Contest",
    "GuidelinesBoard",
    "GuidelinesUpdated",
    "NotJson",
    "NotRegistered",
    "OneAgentTwice",
    "Reflection",
    "ReflectionTriggered",
    "Registered",
    "Report",
    "RunNotOver",
    "Section",
    "SeenBefore",
    "SharedBlocks",
    "Sink",
    "Source",
    "Table",
    "analyse",
    "html_of",
    "markdown_of",
    "open_board",
    "phrased",
    "publish_wish",
    "read_shared_memory_blocks",
    "reflect",
    "reflect_on_file",
    "reflection_event",
    "reflector_of",
    "register_reflector",
    "report_of",
    "run_section",
    "send_reflection",
    "status_warnings",
    "trigger_reflection",
    "update_reflector_guidelines",
    "with_playbooks",
    "withdraw_wishes",
]
