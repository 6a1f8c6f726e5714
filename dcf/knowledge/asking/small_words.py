"""English words that say nothing of their own in a question."""

from __future__ import annotations

from typing import Final

_BEFORE_THINGS = """
for of at about with by in on from to as than without except per using like which what many much
often long number each every all any
"""
_TURNS = """
not no never without except besides but unless neither nor isn't don't before after until till
between ago tomorrow tonight next onward onwards later earlier afterwards most more less least fewer
fewest lowest highest rarely seldom
"""
_EMPTY = """
a an the this that these those it its they them their there here i we me us our my you your is are
was were be been being am do does did done has have had having can could would should shall will
may might must and or so then also just only please tell give list find get got let what's whats who
whom whose when where how some ever far now up out during over go goes went gone
ran running happen happens happened used use using work works worked take takes took make makes made
come comes came look looks s t re ve very really actually currently
"""

BEFORE_THINGS: Final = frozenset(_BEFORE_THINGS.split())
"""What comes behind such a word is what a question is about."""
TURNS: Final = frozenset(_TURNS.split())
"""These turn the meaning round, or make another question of it."""
EMPTY: Final = frozenset(_EMPTY.split())
"""These may be left out."""
