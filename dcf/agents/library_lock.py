"""One thread at a time loads pydantic-ai."""

from __future__ import annotations

from threading import Lock

LOADING = Lock()
"""Held while modules are imported that load the library: its modules need each other, and two
threads that begin at different ends get one that is half there."""
