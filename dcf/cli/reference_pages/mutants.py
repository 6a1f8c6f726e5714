"""The page of mutants: how many each script has, and why nobody can notice some of them."""

from __future__ import annotations

from collections import Counter

from dcf.cli.reference_pages.markdown import page, table

_INTRO = """\
`dcf sim --sabotage NAME` [breaks the scripts on purpose](../how-to/simulate.md#sabotage), one small
place at a time. Each of these mutants is found by one of the seeds `0:200`, which is kept in
`dcf/simulation/found.json`, or it stands below with the proof that no simulation can notice it.
`make soak` tries all of them again and fails for one of which neither is so; `make test` tries a
fixed sample, and fails when one of them was never tried. The names are those of the files in
`control_plane/scripts/`; `list` changes nothing and has no mutants."""

_EQUIVALENT = """\
## Equivalent

What is replaced, by what, and why it makes no difference. A name holds a digest of the statement:
when the statement changes, the proof has to be given anew."""


def mutants_page() -> str:
    """The text of ``mutants.md``. Needs the extra ``sim``."""
    from dcf.simulation import equivalents, found, mutants

    made, reasons, seeds = mutants(), equivalents(), found()
    generated = Counter(one.file for one in made)
    noticed = Counter(one.file for one in made if one.name in seeds)
    equal = Counter(one.file for one in made if one.name in reasons)
    numbers = [
        (f"`{file}`", generated[file], noticed[file], equal[file]) for file in sorted(generated)
    ]
    numbers.append(("all", generated.total(), noticed.total(), equal.total()))
    rows = [(name, *(f"{number:,}" for number in some)) for name, *some in numbers]
    proofs = [
        (f"`{one.name}`", f"`{one.old}`", f"`{one.new}`", reasons[one.name])
        for one in made
        if one.name in reasons
    ]
    return page(
        "Mutants of the scripts",
        _INTRO,
        table(("file", "generated", "found", "equivalent"), rows),
        _EQUIVALENT,
        table(("mutant", "what stands there", "what is put there", "why it is the same"), proofs),
    )
