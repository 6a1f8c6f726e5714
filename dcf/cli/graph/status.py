"""``dcf graph status``."""

from __future__ import annotations

from typing import Any

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import FAILED
from dcf.cli.graph.reading import lag_text, outbox_lag
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.wording import counted
from dcf.knowledge import (
    EMBEDDER,
    WIDTH,
    GraphSetting,
    Knowledge,
    Meanings,
    VectorsForeign,
    load_embedder,
    made_anew,
    widths,
)


async def graph_status(settings: Settings, screen: Screen, *, mend: bool) -> Answer:
    """Where the graph is, what waits for it, and how long its vectors are; nothing is written but
    what ``mend`` makes anew."""
    setting = GraphSetting.from_env(settings.env)
    with screen.working("the graph …"):
        async with Knowledge.open(setting) as knowledge:
            graph = knowledge.graph
            mended = await made_anew(graph, Meanings(load_embedder())) if mend else 0
            found = await widths(graph)
    lag = await outbox_lag(settings)
    fields: dict[str, Any] = {
        "graph": graph.label,
        "embedder": EMBEDDER,
        "width": WIDTH,
        "widths": {str(width): n for width, n in sorted(found.items())},
        "mended": mended,
        "waiting": lag.waiting if lag else None,
    }
    lines = [
        f"the graph at {graph.label} answers",
        f"vectors: {WIDTH} numbers each, by {EMBEDDER}; looked at in the graph: "
        + (", ".join(f"{n:,} with {width}" for width, n in sorted(found.items())) or "none"),
    ]
    lines += [lag_text(lag)] if lag else []
    lines += [f"{counted(mended, 'vector was', 'vectors were')} made anew"] if mend else []
    others = sorted(set(found) - {WIDTH})
    if others:
        told = ", ".join(map(str, others))
        foreign = VectorsForeign(server=graph.label, found=told, width=WIDTH)
        note = ErrorNote(foreign.code, foreign.message, foreign.hint)
        return Answer(fields, lines, "error", note, FAILED)
    return Answer(fields, lines)
