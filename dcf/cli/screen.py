"""Where a command shows people what goes on: stdout, or stderr when stdout is for a script."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from dcf.cli.visible import visible

# Of a console that is no terminal: wide enough for tables in logs.
_WIDTH = 120
_EVERY_S = 5.0
"""Between two lines of what goes on, where nobody sees one change."""


class Screen:
    """``human`` is the console for people, ``errors`` the one for what went wrong."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.human = _console(stderr=as_json)
        self.errors = self.human if as_json else _console(stderr=True)

    def say(self, text: str, style: str = "") -> None:
        """One line for people; ``text`` is plain, not markup."""
        self.human.print(text, style=style or None, markup=False, highlight=False, soft_wrap=True)

    def warn(self, text: str) -> None:
        """One line of concern, on stderr."""
        self.errors.print(text, style="yellow", markup=False, highlight=False, soft_wrap=True)

    @contextmanager
    def working(self, text: str) -> Iterator[Progress]:
        """Shows on a terminal that something goes on; gone when it is done. Elsewhere, as in a
        pipe, what is told is a line on stderr now and then."""
        if not self.human.is_terminal:
            yield Progress(self._note, every_s=_EVERY_S)
            return
        with self.human.status(text) as status:
            yield Progress(status.update)

    def _note(self, text: str) -> None:
        self.errors.print(text, style="dim", markup=False, highlight=False, soft_wrap=True)


class Progress:
    """A line that can be changed while it is shown, once in ``every_s`` by the ``clock`` (s)."""

    def __init__(
        self,
        update: Callable[[str], None],
        every_s: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._update = update
        self._every_s = every_s
        self._clock = clock
        self._next = clock() + every_s

    def tell(self, text: str) -> None:
        """Show ``text`` from now on, unless another one is still to be shown."""
        now = self._clock()
        if now >= self._next:
            self._next = now + self._every_s
            self._update(text)


class _PlainText(Console):
    """A console that writes control characters out; its own styles and moves are no text."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control is None:
                yield Segment(visible(segment.text), segment.style)
            else:
                yield segment


def _console(*, stderr: bool) -> Console:
    console = _PlainText(stderr=stderr, soft_wrap=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDTH
    return console
