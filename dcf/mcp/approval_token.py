"""Who may do over MCP what only people should: whoever has the secret that clients have not."""

from __future__ import annotations

import hmac

from dcf.mcp.envelope import Refused
from dcf.mcp.platform import Platform


def check_approval_token(platform: Platform, given: str | None, command: str = "") -> None:
    """Refuse whoever lacks the server's approval token, and everybody where it has none: which
    agent calls is only what it says, so the one that asks could answer itself. ``command`` does the
    same where the server runs, if there is one. Raises Refused."""
    instead = f"; `{command}` there needs none" if command else ""
    token = platform.config.approval_token
    if token is None:
        message = "this server has no approval token, so nobody decides over MCP"
        hint = f"set DCF_APPROVAL_TOKEN where it is started{instead}"
        raise Refused("approval_forbidden", message, hint=hint)
    if given is None or not hmac.compare_digest(given.encode(), token.encode()):
        hint = f"pass the server's DCF_APPROVAL_TOKEN as approval_token{instead}"
        wrong = "is missing" if given is None else "is not the server's"
        raise Refused("approval_forbidden", f"approval_token {wrong}", hint=hint)


def check_generating(platform: Platform, given: str | None) -> None:
    """As above where there is a token, or other machines reach the server. Elsewhere everybody
    generates: nothing comes of it but what stands in the sources, which no tool can write.
    Raises Refused."""
    if platform.config.approval_token is not None or platform.config.exposed:
        check_approval_token(platform, given, "dcf skills generate")
