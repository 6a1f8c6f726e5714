"""Redis with JSON in this process, as far as it goes without Lua: single commands, no scripts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from control_plane.errors import ServerError
from control_plane.script import Script
from control_plane.twin.catalog import COMMANDS
from control_plane.twin.command import Reply, wrong_arity
from control_plane.twin.defects import Unsupported
from control_plane.twin.keyspace import Keyspace


class Shelf:
    """A ``Backend`` to put documents on and read them there. Lua comes with an extra; this needs
    none. ``clock`` gives microseconds since the epoch."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._space = Keyspace()

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        """Raises Unsupported: nothing is moved on a shelf."""
        raise Unsupported(f"the script {script.name}")

    async def command(self, *args: str | int) -> Any:
        """See ``Backend.command``. Nothing waits, and nothing is read in the name of a group."""
        name, *texts = map(str, args)
        self._space.now_us = self._clock()
        try:
            return self._execute(name.upper(), texts)
        except ServerError as error:
            raise_as_backends_do(error)

    async def close(self) -> None:
        """Nothing to release."""

    def _execute(self, name: str, args: Sequence[str]) -> Reply:
        command = COMMANDS.get(name)
        if command is None:
            given = "".join(f"'{arg}' " for arg in args)
            raise ServerError(f"ERR unknown command '{name}', with args beginning with: {given}")
        if not command.accepts(len(args)):
            raise wrong_arity(name)
        return command.run(self._space, args)


def raise_as_backends_do(error: ServerError) -> NoReturn:
    """Raise the error that the twin found, which is no more than a text after a script: WrongType
    where a key holds something else, as a real server's backend does."""
    # Not above: it loads redis-py, which takes longer than all of this.
    from control_plane import refusals

    refusing = refusals.refusal_in(str(error))
    if refusing is not None and refusing.scope == "key":
        raise refusals.as_error(refusing, str(error), "the twin") from error
    raise error
