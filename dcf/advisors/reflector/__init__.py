"""The Reflector: insights, guidelines, and what became of advice."""

from __future__ import annotations
