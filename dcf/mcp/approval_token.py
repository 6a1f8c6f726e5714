"""Who may do over MCP what only people should: whoever has the secret that clients have not."""

from __future__ import annotations

import hmac

from dcf.mcp.envelope import Refused
from dcf.mcp.platform import Platform


def check_approval_token(platform: Platform, given: str | None) -> None:
    """Refuse whoever lacks the server's approval token, and everybody where other machines reach a
    server without one: which agent calls is only what it says. Raises Refused."""
    token = platform.config.approval_token
    if token is not None:
        if given is None or not hmac.compare_digest(given.encode(), token.encode()):
            hint = "pass the server's DCF_APPROVAL_TOKEN as approval_token, or use the dcf command"
            wrong = "is missing" if given is None else "is not the server's"
            raise Refused("approval_forbidden", f"approval_token {wrong}", hint=hint)
    elif platform.config.exposed:
        message = "this server can be reached from other machines and has no approval token"
        hint = "set DCF_APPROVAL_TOKEN where it runs, or use the dcf command there"
        raise Refused("approval_forbidden", message, hint=hint)
