"""A comparison as one HTML page that needs nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from html import escape
from typing import Any

from dcf.diagram import DARK, LIGHT, Machine, Theme, arrange, read_chart, to_svg
from dcf.planner.comparing.showing import (
    LEGEND,
    ORIGIN,
    PLACE,
    colours,
    hue_by_step,
    lines_of,
    summary,
    text_of,
    where,
)
from dcf.planner.comparing.side_by_side import Part, SeenState, SideBySide
from dcf.sop import PLACES, Sentence

_STYLE = """
body { font: 16px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 96rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.6rem; margin: 0 0 .3rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; }
a { color: var(--way); } :focus-visible { outline: 2px solid var(--way); outline-offset: 2px; }
.files, .origin, .heads, .lines, .type, .none, .legend { color: var(--muted); }
.files { margin: 0 0 1rem; overflow-wrap: anywhere; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .6rem;
  padding: 0; margin: 1rem 0; list-style: none; }
.figures li { border: 1px solid var(--rule); border-radius: .5rem; padding: .5rem .8rem; }
.figures b { display: block; font-size: 1.6rem; line-height: 1.2; }
.figures .bad { border-color: var(--wrong); background: var(--wrong-ground); }
.figures .bad b { color: var(--wrong); }
.bar { display: flex; height: .8rem; gap: 2px; } .bar span { min-width: 3px; border-radius: 2px; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1rem; padding: 0; margin: .4rem 0 0;
  list-style: none; font-size: .88rem; }
.legend i { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px;
  margin-right: .35rem; vertical-align: -1px; }
.part, .heads { display: grid; grid-template-columns: minmax(0, 7fr) 4.5rem minmax(0, 4fr); }
.heads { font-size: .85rem; padding: .3rem 0; border-bottom: 1px solid var(--rule);
  position: sticky; top: 0; background: var(--paper); z-index: 1; }
.part { padding: .3rem 0; border-bottom: 1px solid var(--rule); }
.said { border-right: 4px solid var(--edge, var(--rule)); padding-right: .6rem; margin: 0; }
.said > div { display: grid; grid-template-columns: 3.6rem minmax(0, 1fr) 7.4rem; gap: .5rem;
  padding: .12rem .2rem; border-radius: .3rem; }
.lines { text-align: right; font-variant-numeric: tabular-nums; font-size: .85rem;
  padding-top: .1rem; }
.said dd { margin: 0; overflow-wrap: anywhere; }
.said pre { margin: 0; white-space: pre-wrap; font-size: .85rem; }
.place { font-size: .78rem; justify-self: start; align-self: start; padding: .05rem .5rem;
  border-radius: 1rem; border: 1px solid var(--rule); white-space: nowrap; color: var(--muted); }
.said > .open { background: var(--wrong-ground); scroll-margin-top: 3rem; }
.open .place { color: var(--wrong); border-color: var(--wrong); font-weight: 600; }
.joint { position: relative; display: flex; justify-content: center; align-items: flex-start; }
.joint.step::before { content: ""; position: absolute; left: 0; right: 0; top: .9rem;
  border-top: 3px solid var(--edge); }
.joint.again::before { border-top-style: dashed; }
.joint b { position: relative; min-width: 1.1rem; text-align: center; padding: .15rem .45rem;
  border-radius: 1rem; background: var(--ground); border: 2px solid var(--edge);
  font-size: .9rem; }
.became { border-left: 4px solid var(--edge, var(--rule)); padding-left: .6rem; margin: 0; }
.state { margin: .15rem 0; padding: .3rem .6rem; border: 1.5px solid var(--edge, var(--muted));
  border-radius: .5rem; background: var(--ground, transparent); overflow-wrap: anywhere; }
.state .does { display: block; font-size: .85rem; }
.state.frame { border-style: dashed; background: none; }
.state.loose { --edge: var(--wrong); --ground: var(--wrong-ground); border-style: dashed; }
.edited { font-size: .78rem; font-weight: 600; color: var(--wrong); margin-left: .4rem; }
.type { font-size: .85rem; margin-left: .3rem; } .none { margin: .2rem 0; font-size: .9rem; }
.none.gap { color: var(--wrong); font-weight: 600; }
.rest { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 16rem), 1fr));
  gap: .5rem; padding: 0; list-style: none; }
.drawing { overflow-x: auto; border: 1px solid var(--rule); border-radius: .5rem; }
.drawing svg { display: block; margin: 0 auto; }
@media (max-width: 60rem) { body { padding: .8rem; }
  .part { grid-template-columns: minmax(0, 1fr); border-left: 4px solid var(--edge, var(--rule));
    padding: .4rem 0 .4rem .5rem; }
  .heads { display: none; } .said, .became { border: 0; padding: 0; }
  .joint { justify-content: flex-start; margin: .3rem 0; } .joint:empty { display: none; }
  .joint.step::before { right: auto; width: 2.4rem; left: 0; } .joint b { margin-left: .9rem; } }
@media (max-width: 34rem) {
  .said > div { grid-template-columns: 2.6rem minmax(0, 1fr); gap: 0 .5rem; }
  .said .place { grid-column: 2; margin-bottom: .3rem; } }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_CODE = re.compile(r"`([^`]+)`")
_WORD_END = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""Where a long name of a state may break."""
_SHADES: Mapping[str, str] = {
    "step": "--h0",
    "condition": "--h1",
    "guardrail": "--h2",
    "input": "--h3",
    "objective": "--h4",
    "note": "--muted",
    "question": "--wrong",
}


def page_of(found: SideBySide, document: Mapping[str, Any], source: str, workflow: str) -> str:
    """The page: no script, nothing loaded from anywhere, light or dark as the reader has it.
    ``document`` is what ``found`` was compared with; ``source`` and ``workflow`` are the names of
    the two files."""
    return "\n".join(_lines(found, document, source, workflow)) + "\n"


def _lines(
    found: SideBySide, document: Mapping[str, Any], source: str, workflow: str
) -> Iterator[str]:
    title = escape(found.title)
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}: text and workflow</title>\n<style>{_colours()}{_STYLE}</style>"
    yield f"</head>\n<body>\n<main>\n<h1>{title}</h1>"
    yield f'<p class="files">{escape(source)} beside {escape(workflow)}</p>'
    yield from _figures(found)
    yield f'<p class="origin">{escape(ORIGIN[found.origin])} {LEGEND}</p>'
    yield '<h2 id="parts">Sentences and states</h2>'
    yield '<div class="heads" aria-hidden="true"><span>Line and sentence</span>'
    yield "<span>Step</span><span>States of the workflow</span></div>"
    hues = hue_by_step([part.step for part in found.parts if part.step])
    opened = iter(range(1, len(found.open) + 1))
    for part in found.parts:
        yield from _part(part, hues, opened)
    for name, heading, states in (
        ("loose", "States that no sentence stands for", found.loose),
        ("frame", "States of the whole procedure", found.frame),
    ):
        if states:
            yield f'<h2 id="{name}">{heading}</h2>\n<ul class="rest">'
            yield from (f"<li>{_state(one)}</li>" for one in states)
            yield "</ul>"
    yield '<h2 id="drawing">The workflow</h2>'
    yield '<div class="drawing" tabindex="0" role="region" aria-label="Drawing of the workflow">'
    yield f"{_drawing(found, document)}</div>\n</main>\n</body>\n</html>"


def _figures(found: SideBySide) -> Iterator[str]:
    text, states = summary(found)
    unstated = len(found.open) - found.unclear
    yield '<ul class="figures">'
    yield _figure(f"{found.percent} %", text.partition(" % ")[2].partition(";")[0])
    yield _figure(str(found.unclear), "not understood", found.unclear, "open1")
    yield _figure(str(unstated), "without a state", unstated, "open1")
    yield _figure(f"{found.states_percent} %", states.partition(" % ")[2].partition(";")[0])
    loose = len(found.loose)
    yield _figure(str(loose), "without a sentence", loose, "loose")
    if found.edited:
        yield _figure(str(found.edited), "edited by hand")
    yield "</ul>"
    counts = {
        place: sum(one.place == place for part in found.parts for one in part.sentences)
        for place in PLACES
    }
    shown = {place: count for place, count in counts.items() if count}
    spoken = ", ".join(f"{count} {PLACE[place]}" for place, count in shown.items())
    yield f'<div class="bar" role="img" aria-label="Places of the sentences: {spoken}">'
    yield "".join(
        f'<span style="flex:{count};background:var({_SHADES[place]})"></span>'
        for place, count in shown.items()
    )
    yield '</div>\n<ul class="legend">'
    yield from (
        f'<li><i style="background:var({_SHADES[place]})"></i>{count} {PLACE[place]}</li>'
        for place, count in shown.items()
    )
    yield "</ul>"


def _figure(number: str, what: str, bad: int = 0, where_to: str = "") -> str:
    said = f'<a href="#{where_to}">{escape(what)}</a>' if bad and where_to else escape(what)
    kind = ' class="bad"' if bad else ""
    return f"<li{kind}><b>{number}</b> {said}</li>"


def _part(part: Part, hues: Mapping[str, int], opened: Iterator[int]) -> Iterator[str]:
    name = f"Step {part.step}: {part.title}" if part.step else "The whole procedure"
    hue = hues.get(part.step or "")
    style = f' style="--edge:var(--h{hue});--ground:var(--g{hue})"' if hue is not None else ""
    yield f'<section class="part"{style} aria-label="{escape(name)}">\n<dl class="said">'
    for one in part.sentences:
        yield _sentence(one, f' id="open{next(opened)}"' if part.is_open(one) else "")
    yield "</dl>"
    joint = f"<b>{escape(part.step)}</b>" if part.step else ""
    kind = f" step{' again' if part.again else ''}" if part.step and part.states else ""
    yield f'<div class="joint{kind}">{joint}</div>\n<div class="became">'
    if part.states and part.again:
        yield f'<p class="none">{escape(", ".join(one.name for one in part.states))}, as above</p>'
    elif part.states:
        yield from map(_state, part.states)
    else:
        gap = " gap" if any(map(part.is_open, part.sentences)) else ""
        yield f'<p class="none{gap}">{where(part)}</p>'
    yield "</div>\n</section>"


def _sentence(one: Sentence, anchor: str) -> str:
    tag = "pre" if "\n" in one.text else "span"
    kind = ' class="open"' if anchor else ""
    return (
        f'<div{anchor}{kind}><dt class="lines">'
        f"{lines_of(one)}</dt><dd><{tag}>{_marked(one)}</{tag}></dd>"
        f'<dd class="place">{PLACE[one.place]}</dd></div>'
    )


def _marked(one: Sentence) -> str:
    """The text of a sentence, with what stands between backticks as code."""
    text = escape(text_of(one))
    return text if "\n" in text else _CODE.sub(r"<code>\1</code>", text)


def _state(one: SeenState) -> str:
    edited = '<span class="edited">edited by hand</span>' if one.edited else ""
    does = f'<span class="does">{escape(one.does)}</span>' if one.does else ""
    return (
        f'<div class="state {one.role}"><b>{_WORD_END.sub("<wbr>", escape(one.name))}</b>'
        f'<span class="type">{escape(one.type)}</span>{edited}{does}</div>'
    )


def _drawing(found: SideBySide, document: Mapping[str, Any]) -> str:
    """The state machine, each state with the number of its step."""
    chart = read_chart(dict(document))
    steps = {one.name: one for one in found.states}
    numbered = replace(chart, machine=_numbered(chart.machine, steps))
    return to_svg(arrange(numbered), found.title)


def _numbered(machine: Machine, steps: Mapping[str, SeenState]) -> Machine:
    nodes = []
    for node in machine.nodes:
        seen = steps.get(node.name)
        number = f"step {seen.step}" if seen and seen.step else ""
        if seen and seen.role == "loose":
            number = "no sentence"
        note = " · ".join(filter(None, (number, node.note)))
        inside = tuple(_numbered(one, steps) for one in node.machines)
        nodes.append(replace(node, note=note, machines=inside))
    return replace(machine, nodes=tuple(nodes))


def _colours() -> str:
    """The colours as variables, for light and for dark surroundings."""
    light, dark = (re.sub(r"\s+", " ", _variables(theme)) for theme in (LIGHT, DARK))
    return (
        f":root {{ color-scheme: light dark; {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"
    )


def _variables(theme: Theme) -> str:
    wrong_ground = theme.kinds["Fail"][0]
    hues = "".join(
        f"--g{at}: {ground}; --h{at}: {border}; "
        for at, (ground, border) in enumerate(colours(theme))
    )
    return (
        f"--paper: {theme.paper}; --ink: {theme.ink}; --muted: {theme.muted}; "
        f"--rule: {theme.line}66; --way: {theme.taken}; --wrong: {theme.error}; "
        f"--wrong-ground: {wrong_ground}; {hues}"
    )
