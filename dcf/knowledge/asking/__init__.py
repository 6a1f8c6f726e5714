"""Questions to the graph, each answered with its evidence: runs, counts, intervals.

``ranking`` which version succeeded most, ``what_changed`` before failures began, ``runs_like`` one
run, ``why`` it failed, ``account_of`` what happened in it, ``crossing`` counts outcomes and
``runs_counted`` runs across dimensions,
``session_account`` tells a session, ``delegations_counted`` counts what was delegated, ``patterns``
are what analyses of sessions have measured, ``sessions_past`` what all but one session know.
``runs_listed`` are runs one by one, ``causes`` why things fail, ``trend`` how they develop,
``compared`` two of a kind, ``periods_compared`` two times, ``chosen_for`` why skills were chosen,
``spreads`` durations and tries, ``tools_counted`` calls of tools, ``approvals_listed`` who
approved, ``approvals_counted`` how often.
``overview`` what there is, ``exported`` all of it. ``Asker`` takes words and finds out which of
these is meant, by the rules of ``QUESTIONS``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.knowledge.asking.account import Account, account_of
    from dcf.knowledge.asking.alike import Alike, runs_like
    from dcf.knowledge.asking.approving import (
        Approved,
        Decided,
        approvals_counted,
        approvals_listed,
    )
    from dcf.knowledge.asking.asker import Asked, Asker, Chooser, checked
    from dcf.knowledge.asking.blame import Failure, Helped, Why, pattern_of, why
    from dcf.knowledge.asking.causes import Cause, causes
    from dcf.knowledge.asking.changing import Changes, Fall, Suspect, what_changed
    from dcf.knowledge.asking.choosing import Choosing, chosen_for
    from dcf.knowledge.asking.comparing import (
        Compared,
        Difference,
        compared,
        periods_compared,
    )
    from dcf.knowledge.asking.crossing import DIMENSIONS, Crossed, Dimension, Narrowed, crossing
    from dcf.knowledge.asking.delegations import (
        DELEGATION_DIMENSIONS,
        DelegationDimension,
        Handed,
        delegations_counted,
    )
    from dcf.knowledge.asking.episodes import (
        EpisodeMeasured,
        EpisodeText,
        clear_group,
        delete_fact,
        delete_text,
        groups_written,
        is_measured,
        newest_episodes,
    )
    from dcf.knowledge.asking.errors import QuestionTooWide, UnknownThing
    from dcf.knowledge.asking.exporting import exported
    from dcf.knowledge.asking.groups import GROUPS, Chosen, Part, chosen
    from dcf.knowledge.asking.listing import Listed, runs_listed
    from dcf.knowledge.asking.matching import ORDERS, SURE, Matched, match
    from dcf.knowledge.asking.model_choice import ModelChooser
    from dcf.knowledge.asking.names import Names, names_in
    from dcf.knowledge.asking.overview import Overview, overview
    from dcf.knowledge.asking.patterns import patterns
    from dcf.knowledge.asking.period import Period
    from dcf.knowledge.asking.questions import QUESTIONS, Question
    from dcf.knowledge.asking.ranking import Ranked, ranking
    from dcf.knowledge.asking.run_counting import runs_counted
    from dcf.knowledge.asking.session_account import SessionAccount, session_account
    from dcf.knowledge.asking.sessions_listed import sessions_listed
    from dcf.knowledge.asking.sessions_past import PastTrack, SessionsPast, sessions_past
    from dcf.knowledge.asking.spreading import Spread, spreads
    from dcf.knowledge.asking.tool_counting import Called, tools_counted
    from dcf.knowledge.asking.trend import Trend, trend
else:
    export_late(__name__)

__all__ = [
    "DELEGATION_DIMENSIONS",
    "DIMENSIONS",
    "GROUPS",
    "ORDERS",
    "QUESTIONS",
    "SURE",
    "Account",
    "Alike",
    "Approved",
    "Asked",
    "Asker",
    "Called",
    "Cause",
    "Changes",
    "Chooser",
    "Choosing",
    "Chosen",
    "Compared",
    "Crossed",
    "Decided",
    "DelegationDimension",
    "Difference",
    "Dimension",
    "EpisodeMeasured",
    "EpisodeText",
    "Failure",
    "Fall",
    "Handed",
    "Helped",
    "Listed",
    "Matched",
    "ModelChooser",
    "Names",
    "Narrowed",
    "Overview",
    "Part",
    "PastTrack",
    "Period",
    "Question",
    "QuestionTooWide",
    "Ranked",
    "SessionAccount",
    "SessionsPast",
    "Spread",
    "Suspect",
    "Trend",
    "UnknownThing",
    "Why",
    "account_of",
    "approvals_counted",
    "approvals_listed",
    "causes",
    "checked",
    "chosen",
    "chosen_for",
    "clear_group",
    "compared",
    "crossing",
    "delegations_counted",
    "delete_fact",
    "delete_text",
    "exported",
    "groups_written",
    "is_measured",
    "match",
    "names_in",
    "newest_episodes",
    "overview",
    "pattern_of",
    "patterns",
    "periods_compared",
    "ranking",
    "runs_counted",
    "runs_like",
    "runs_listed",
    "session_account",
    "sessions_listed",
    "sessions_past",
    "spreads",
    "tools_counted",
    "trend",
    "what_changed",
    "why",
]
