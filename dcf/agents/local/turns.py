"""Taking turns: which model, begun and ended in the memory. Loads pydantic-ai."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from dcf.agents.local.chat_rehearsal import chat_rehearsal
from dcf.agents.local.conversation import Conversation
from dcf.agents.local.kept_turn import reply_of
from dcf.agents.local.setting import Setting
from dcf.agents.local.turn_lease import INTERRUPTED, begin_in_turn, kept
from dcf.agents.models import REHEARSAL, Models, Tally, named_model
from dcf.agents.task_error import TaskError
from dcf.memory import (
    Actor,
    NewMessage,
    TurnLost,
    UnknownLetter,
)

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from dcf.agents.models import Allowance
    from dcf.agents.performer import Observer
    from dcf.agents.reply import Receipt, Reply
    from dcf.agents.runtime import ToolUse
    from dcf.agents.usage_limits import UsageLimits
    from dcf.memory import Agent, Letter, Letters, Memory, TurnRecord


LeaveAmong: TypeAlias = "Callable[[Letters, str, str, str, str], Awaitable[Receipt]]"
"""A Leave that puts its message among these letters."""


class Turns:
    """The turns of the agents of one memory. Arguments as in LocalAgents."""

    def __init__(
        self,
        memory: Memory,
        *,
        model: Model | str | None,
        models: Models,
        environment: Mapping[str, str],
        allowance_of: Callable[[Agent], Allowance] | None,
        leave: LeaveAmong,
        limits: UsageLimits,
        clock: Callable[[], float],
        by_model: bool,
        lease_s: float,
    ) -> None:
        self._memory = memory
        self._lease_s = lease_s
        self._given = model
        self._models = models
        self._environment = environment
        self._allowance_of = allowance_of
        self._rehearsal = chat_rehearsal()
        self._setting = Setting(
            memory,
            self._model_of,
            self._tally_of,
            partial(leave, memory.letters),
            limits,
            clock,
            by_model,
        )
        self._leave = leave

    async def answer(
        self,
        agent_id: str,
        question: NewMessage,
        *,
        use: ToolUse | None,
        observe: Observer,
        streamed: bool,
        letter: Letter | None,
    ) -> Reply:
        """One turn. Raises TaskError, UnknownAgent, and for a letter LetterLost."""
        memory = self._memory
        agent = await memory.agents.get(agent_id)
        by = Actor("user" if letter is None else "agent", question.sender or "user")
        try:
            turn = await begin_in_turn(
                memory, agent_id, question, by=by, letter=letter, lease_s=self._lease_s
            )
            return await self._converse(agent, turn, letter, use, observe, streamed)
        except TurnLost as lost:
            raise TaskError(INTERRUPTED, str(lost)) from lost

    async def _converse(
        self,
        agent: Agent,
        turn: TurnRecord,
        letter: Letter | None,
        use: ToolUse | None,
        observe: Observer,
        streamed: bool,
    ) -> Reply:
        within = self._memory.within(turn)
        setting = replace(self._setting, memory=within, leave=partial(self._leave, within.letters))
        async with kept(self._memory, turn, lease_s=self._lease_s) as let_go:
            conversation = Conversation(
                setting=setting,
                agent=agent,
                turn=turn,
                letter=letter,
                use=use,
                observe=observe,
                streamed=streamed,
                tally=self._tally_of(agent),
                began=setting.clock(),
                let_go=let_go,
            )
            return await conversation.answer()

    async def reply_to(self, letter: Letter) -> Reply:
        """The reply with which a letter was answered."""
        reply = letter.reply or {}
        turn = await self._memory.turns.get(reply["turn"])
        if turn is None:
            raise UnknownLetter(letter_id=letter.id)
        return await reply_of(self._memory, turn, reply["text"])

    def _model_of(self, agent: Agent, tally: Tally) -> Model:
        given = self._given
        if given is not None and not isinstance(given, str):
            return self._models.metered(given, given.model_id, tally)
        role = agent.role or "worker"
        name = given or agent.model or named_model(self._environment, role=role).name
        # The rehearsal of tasks reads a task's input; a conversation has none.
        return self._rehearsal if name == REHEARSAL else self._models.of(name, tally)

    def _tally_of(self, agent: Agent) -> Tally:
        return Tally(None if self._allowance_of is None else self._allowance_of(agent))
