"""What phrases share: quotes, emphasis, names, number words, and the error of an unreadable one."""

from __future__ import annotations

import json
import re

NAME = r"[A-Za-z_][A-Za-z0-9_]*"
DOTTED = rf"{NAME}(?:\.{NAME})*"
STEP_NUMBER = r"[0-9]+[a-z]?(?:\.[0-9]+[a-z]?)*"
ERROR_NAME = r"[A-Za-z_][A-Za-z0-9_.-]*[A-Za-z0-9_]|[A-Za-z_]"
MAX_PHRASE = 2_000
"""Characters of a sentence, and of a line with a label."""
AS_TEXT = "begin it with a backslash (\\) if plain text is meant"

_QUOTE = re.compile(r'[`"“]')
_QUOTED = {
    "`": re.compile(r"`[^`]*`"),
    '"': re.compile(r'"[^"\\]*+(?>(?:\\.[^"\\]*+)*)"'),
    "“": re.compile(r"“[^”]*”"),
}
_LISTED = re.compile(r"\s*,\s*(?:(?:or|and)\s+)?|\s+(?:or|and)\s+")
_BLANKS = re.compile(r"\s{2,}")
_EMPHASIS = re.compile(r"(?P<mark>\*{1,3}|_{1,3})(?P<inside>(?![\s*_]).+?)(?P=mark)(?P<end>[.;]?)")
_CHECKBOX = re.compile(r"\[[ xX]\]\s+")
_COUNTED = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBER_WORDS = {word: number for number, word in enumerate(_COUNTED, start=1)}
_NUMBER_WORDS |= {"a": 1, "an": 1, "once": 1, "twice": 2}


class Unreadable(Exception):
    """A phrase that cannot be read: the rule that it breaks, and how to mend it."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        self.code, self.message, self.hint = code, message, hint
        super().__init__(message)


def check_length(text: str) -> None:
    """Raises ``Unreadable`` for a text that is too long to be a phrase."""
    if len(text) > MAX_PHRASE:
        message = f"{text[:30]!r} begins a sentence of over {MAX_PHRASE:,} characters"
        hint = f"end it earlier, or {AS_TEXT}"
        raise Unreadable("SOP_LIMIT", message, hint)


def masked(text: str) -> str:
    """``text`` in small letters, as long as before, with underscores for all that is quoted, so
    that no word in quotes is taken for one of the phrase."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters become two
        lowered = "".join(one.lower() if len(one.lower()) == 1 else one for one in text)
    parts, start, at = [], 0, 0
    open_for_good: set[str] = set()
    while quote := _QUOTE.search(lowered, at):
        at = quote.end()
        # Behind a quote that nothing closes, nothing closes another of its kind: to look again for
        # each would take the square of their number.
        found = None
        if quote[0] not in open_for_good:
            found = _QUOTED[quote[0]].match(lowered, quote.start())
            if found is None:
                open_for_good.add(quote[0])
        if found:
            at = found.end()
            parts += [lowered[start : found.start()], "_" * len(found[0])]
            start = at
    return "".join([*parts, lowered[start:]])


def single_blanks(text: str) -> str:
    """``text`` with one space for each run of blanks that is not quoted."""
    hidden = masked(text)
    parts, start = [], 0
    for found in _BLANKS.finditer(hidden):
        parts.append(text[start : found.start()])
        start = found.end()
    return " ".join([*parts, text[start:]])


def without_emphasis(text: str) -> str:
    """``text`` without a box to tick, and without the marks of bold and italics around it."""
    box = _CHECKBOX.match(text)
    text = _without_bold(text[box.end() :] if box else text).strip()
    around = _EMPHASIS.fullmatch(text)
    return f"{around['inside']}{around['end']}" if around else text


def _without_bold(text: str) -> str:
    hidden = masked(text)
    stars = [at for at in range(len(text) - 1) if hidden[at : at + 2] == "**"]
    for at in reversed(stars):
        text = text[:at] + text[at + 2 :]
    return text


def quoted(text: str) -> str:
    """``text`` in double quotes, on one line, as JSON."""
    shown = (one if one.isprintable() else json.dumps(one)[1:-1] for one in _escaped(text))
    return f'"{"".join(shown)}"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def unquoted(text: str) -> str:
    """The text in double quotes, straight or typographic. Raises ``ValueError``."""
    if text.startswith("“"):
        return text[1:-1]
    value = json.loads(text)
    if not isinstance(value, str):
        raise ValueError(text)
    # A pair of escapes beyond U+FFFF was joined by the JSON reader; half a pair is no text.
    value.encode("utf-8")
    return value


def count_of(word: str) -> int | float | None:
    """``3``, ``three``, ``twice``; None for what is no number."""
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,6})?", word):
        return float(word) if "." in word else int(word)
    return _NUMBER_WORDS.get(word)


def bare(name: str) -> str:
    """``name`` without the backticks around it."""
    name = name.strip()
    return name[1:-1].strip() if len(name) > 1 and name[0] == name[-1] == "`" else name


def split_list(text: str) -> list[str]:
    """The parts of ``a, b or c`` (``and`` too), quotes respected, empty ones left out."""
    return [part.strip() for part in split_at(_LISTED, text) if part.strip()]


def split_at(separator: re.Pattern[str], text: str) -> list[str]:
    """The parts of ``text`` between what ``separator`` finds outside of quotes."""
    parts, start = [], 0
    for found in separator.finditer(masked(text)):
        parts.append(text[start : found.start()])
        start = found.end()
    return [*parts, text[start:]]
