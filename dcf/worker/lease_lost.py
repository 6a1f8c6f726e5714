"""The end of an authority, told to whoever works under it."""

from __future__ import annotations


class LeaseLost(Exception):
    """The authority over a state was lost while something was done under it."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class GivenBack(LeaseLost):
    """The work cannot go on, and that is not its fault: another process went on with its agent, or
    the memory takes no writes for now. If the lease is still held, it is given back: the work is
    begun again, and charged to nobody."""
