"""What runs taught, as typed facts in a graph.

Whatever ends waits in the outbox of the control plane; a ``Relay`` carries it into the graph, as
nodes and edges that Graphiti's own search understands, without any model. ``Knowledge`` reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.knowledge.background import relay_for_ever
    from dcf.knowledge.connection import GraphConnection
    from dcf.knowledge.draining import drain
    from dcf.knowledge.errors import (
        GraphAway,
        GraphOff,
        GraphRefused,
        GraphSlow,
        GraphUnsuitable,
        KnowledgeError,
        RelayStuck,
        SettingUnusable,
        VectorsForeign,
    )
    from dcf.knowledge.graph_facts import GraphFacts
    from dcf.knowledge.insight_fact import InsightFact
    from dcf.knowledge.knowledge import Knowledge
    from dcf.knowledge.meaning import EMBEDDER, WIDTH, Meanings, load_embedder, never_zero
    from dcf.knowledge.naming import edge_uuid, entity_uuid, run_uuid, state_outcome_uuid
    from dcf.knowledge.outcome import Approval, Outcome, OutcomeStatus, RunFact, ToolUse
    from dcf.knowledge.privacy import Privacy
    from dcf.knowledge.record_kinds import INSIGHT
    from dcf.knowledge.relay import Drained, Progress, Relay
    from dcf.knowledge.schema import DATASETS, GRAPH
    from dcf.knowledge.session_fact import (
        COMPANION_POOL,
        SESSION_PIN,
        TASK_WORKFLOW,
        CompanionPatternFact,
        DelegationFact,
        PatternFact,
        SessionFact,
        SessionPatternFact,
        SkillMetricFact,
        tell_fact,
    )
    from dcf.knowledge.setting import GraphMode, GraphSetting
    from dcf.knowledge.text_episode import SOURCES, TEXT, TEXTS, TextEpisode
    from dcf.knowledge.told_run import ToldRun, tell_known, tell_shelved
    from dcf.knowledge.vectors import check_vectors, made_anew, widths
else:
    export_late(__name__)

__all__ = [
    "COMPANION_POOL",
    "DATASETS",
    "EMBEDDER",
    "GRAPH",
    "INSIGHT",
    "SESSION_PIN",
    "SOURCES",
    "TASK_WORKFLOW",
    "TEXT",
    "TEXTS",
    "WIDTH",
    "Approval",
    "CompanionPatternFact",
    "DelegationFact",
    "Drained",
    "GraphAway",
    "GraphConnection",
    "GraphFacts",
    "GraphMode",
    "GraphOff",
    "GraphRefused",
    "GraphSetting",
    "GraphSlow",
    "GraphUnsuitable",
    "InsightFact",
    "Knowledge",
    "KnowledgeError",
    "Meanings",
    "Outcome",
    "OutcomeStatus",
    "PatternFact",
    "Privacy",
    "Progress",
    "Relay",
    "RelayStuck",
    "RunFact",
    "SessionFact",
    "SessionPatternFact",
    "SettingUnusable",
    "SkillMetricFact",
    "TextEpisode",
    "ToldRun",
    "ToolUse",
    "VectorsForeign",
    "check_vectors",
    "drain",
    "edge_uuid",
    "entity_uuid",
    "load_embedder",
    "made_anew",
    "never_zero",
    "relay_for_ever",
    "run_uuid",
    "state_outcome_uuid",
    "tell_fact",
    "tell_known",
    "tell_shelved",
    "widths",
]
