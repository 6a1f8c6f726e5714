"""What can go wrong with messages between agents, beyond what the memory says."""

from __future__ import annotations

from dcf.memory import MemoryProblem


class ReplyTimeout(MemoryProblem):
    """No answer to message {receipt} to agent {agent_id} within {seconds:g} s ({state})."""

    code = "agent_message_timeout"
    hint = "ask again for the answer later, or send the message with a longer timeout"


class UnknownReceipt(MemoryProblem):
    """There is no message {receipt}."""

    code = "agent_message_unknown"
    hint = "messages are kept with the agent that they were sent to, and go with it"
