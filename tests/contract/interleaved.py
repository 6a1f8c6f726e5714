"""A backend between whose calls something else happens, or that breaks at one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from control_plane import Backend, Disconnected
from control_plane.script import Script


class Interleaved:
    """Calls ``meanwhile`` once, after the first run of the script ``name``."""

    def __init__(self, inner: Backend, name: str) -> None:
        self._inner = inner
        self._name = name
        self._happened = False

    async def meanwhile(self) -> None:
        """What happens in between."""
        raise NotImplementedError

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        answer = await self._inner.run(script, keys, args)
        if script.name == self._name and not self._happened:
            self._happened = True
            await self.meanwhile()
        return answer

    async def command(self, *args: str | int) -> Any:
        return await self._inner.command(*args)

    async def close(self) -> None:
        await self._inner.close()


class Breaking:
    """Works until call number ``fatal``, which fails before or after it took effect; whoever used
    it is dead then, so that nothing works any more."""

    def __init__(
        self, inner: Backend, fatal: int | None, when: Literal["before", "after"] = "before"
    ) -> None:
        self._inner = inner
        self._fatal = fatal
        self._when = when
        self.calls = 0
        self.names: list[str] = []

    @property
    def broken(self) -> bool:
        """Whether the fatal call was reached."""
        return self._fatal is not None and self.calls >= self._fatal

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        return await self._guarded(script.name, self._inner.run, script, keys, args)

    async def command(self, *args: str | int) -> Any:
        return await self._guarded(str(args[0]), self._inner.command, *args)

    async def close(self) -> None:
        await self._inner.close()

    async def _guarded(self, name: str, call: Any, *args: Any) -> Any:
        if self.broken:
            raise Disconnected("the process is dead")
        self.calls += 1
        self.names.append(name)
        if self.broken and self._when == "before":
            raise Disconnected(f"died before {name}")
        answer = await call(*args)
        if self.broken:
            raise Disconnected(f"died after {name}")
        return answer


class FailingOver:
    """Documents are after call number ``lost`` of the script ``name`` what they were before it: the
    server that answered it is dead, and the one in its place never heard of the call."""

    def __init__(self, inner: Backend, name: str, lost: int) -> None:
        self._inner = inner
        self._name = name
        self._left = lost
        self._before: list[tuple[str, str]] = []

    @property
    def over(self) -> bool:
        """Whether the call was made."""
        return self._left <= 0

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        if script.name == self._name:
            self._left -= 1
            if not self._left:
                self._before = await self._documents()
        answer = await self._inner.run(script, keys, args)
        for key, text in self._before:
            await self._inner.command("JSON.SET", key, "$", text)
        self._before = []
        return answer

    async def _documents(self) -> list[tuple[str, str]]:
        found = await self._inner.command("KEYS", "cp:wf:*")
        kinds = {key: await self._inner.command("TYPE", key) for key in found}
        documents = [key for key, kind in kinds.items() if kind == "ReJSON-RL"]
        return [(key, await self._inner.command("JSON.GET", key)) for key in documents]

    async def command(self, *args: str | int) -> Any:
        return await self._inner.command(*args)

    async def close(self) -> None:
        await self._inner.close()
