"""The end of a DCF home that a test used: what ``dcf down`` does, without a process for it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from dcf.cli.down import bring_down
from dcf.cli.exits import OK
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings


def end_home(env: Mapping[str, str]) -> None:
    """Stop all that runs in the background of the home in ``env``. ``dcf down`` as users call it
    has tests of its own; after each other test its start would be all that costs."""
    answer = asyncio.run(bring_down(Settings.from_env(env), Screen(as_json=True)))
    assert answer.exit_code == OK, answer.error
