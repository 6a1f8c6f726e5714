"""Messages between agents: kept in the receiver's inbox until they are answered.

A message is durable when `send_async` returns. It is delivered at least once: a process that ends
while it works on one lets go of it after a while, and another one gets it. The receiver's
conversation has it once all the same, its turn goes on where it stopped, and it is answered once:
the answer, the end of the turn and the message to the sender are one change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.agents.messaging.errors import ReplyTimeout, UnknownReceipt
    from dcf.agents.messaging.inbox import Inbox
    from dcf.agents.messaging.postman import Postman
else:
    export_late(__name__)

__all__ = ["Inbox", "Postman", "ReplyTimeout", "UnknownReceipt"]
