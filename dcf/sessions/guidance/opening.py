"""Guidance as the settings of a process have it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from control_plane.embedded import Embedded
from dcf.advisors.strategist import StrategistRules
from dcf.knowledge import GraphSetting, Knowledge
from dcf.sessions.guidance.guidance import Guidance
from dcf.sessions.guidance.past import GraphPast, History
from dcf.sessions.guidance.showing import Memory
from dcf.sessions.sessions import Sessions

RULES = "DCF_STRATEGIST_RULES"


def open_guidance(
    sessions: Sessions, env: Mapping[str, str], *, memory: Memory | None = None
) -> Guidance:
    """Guidance with the rules in the file ``DCF_STRATEGIST_RULES`` and the past in the graph of
    ``env``. Raises InvalidRules, SettingUnusable."""
    file = env.get(RULES)
    rules = StrategistRules.load(Path(file)) if file else None
    setting = GraphSetting.from_env(env)
    past = None if setting.mode == "off" else SettingPast(setting)
    return Guidance(sessions, rules=rules, past=past, memory=memory)


class SettingPast:
    """The past in the graph of a setting. Where that runs on demand, it is asked while it runs: to
    start it for an analysis would take longer than anybody waits."""

    def __init__(self, setting: GraphSetting) -> None:
        self._setting = setting
        self._graph = GraphPast(lambda: Knowledge.open(setting))

    async def of(self, session_id: str, task_types: Collection[str], *, before: int) -> History:
        """Raises KnowledgeError, ServerUnusable."""
        if self._setting.mode == "demand":
            status = await Embedded.from_env(self._setting.env).graph.status()
            if not status.responding:
                return History()
        return await self._graph.of(session_id, task_types, before=before)
