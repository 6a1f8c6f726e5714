"""Citations of every form, of any ids."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from dcf.citation import TEMPLATES, Citation

# A short one fits whatever it is made of: each character takes at most twelve.
IDS = st.text(
    st.characters(exclude_categories=("Cc", "Cs")) | st.sampled_from("/%.~ü -"),
    min_size=1,
    max_size=60,
).filter(lambda text: text not in (".", ".."))
NUMBERS = st.integers(1, 10**15 - 1)


@st.composite
def citations(draw: st.DrawFn) -> Citation:
    kind, _, *rest = draw(st.sampled_from(TEMPLATES)).split("/")
    part, value = rest or (None, None)
    fields: dict[str, Any] = {}
    if value in ("{n}", "{n}[-{m}]"):
        fields["number"] = draw(NUMBERS)
    elif value is not None:
        fields["part_id"] = draw(IDS)
    if value == "{n}[-{m}]" and draw(st.booleans()):
        fields["last"] = draw(st.integers(fields["number"], 10**15 - 1))
    made: Any = Citation
    found: Citation = made(kind, draw(IDS), part, **fields)
    return found
