"""Texts cut into words where blanks alone do not cut them: for an index, and for what it is asked.

An index cuts a text where its letters, digits and marks end. That finds no word of a script that
writes none apart, and no picture. What comes from here can be cut so.
"""

from __future__ import annotations

import re
from itertools import pairwise
from unicodedata import combining, normalize

import regex

# One look tells for most texts that nothing is to be done: no character of theirs is in here.
_UNUSUAL = re.compile(
    # Latin letters that are folded, two in one sign; Indic; what is not seen.
    "[\u00ad\u00c6\u00d8\u00df\u00e6\u00f8\u0131\u0141\u0142\u0152\u0153\u1e9e\ufb00-\ufb06"
    "\u0900-\u0dff\u200c\u200d"
    "\u0386-\u0390\u03aa-\u03b0\u03ca-\u03ce\u0401\u0451"  # Greek with accents, Cyrillic io
    "\u0600-\u06ff\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff"  # Arabic, Thai … Khmer
    "\u1f00-\u1fff\u2600-\u27bf\u2b00-\u2bff"  # old Greek, pictures
    "\u2e80-\ud7ff\uf900-\ufaff\ufb50-\ufdff\ufe70-\uffef\U0001f000-\U0003ffff]"
)
# More marks on one letter than any writing has (UAX #15, stream-safe text).
_MANY_MARKS = regex.compile(r"\P{CCC=0}{31,}")
# Forms of one letter that look different or stand apart: of full and of half width, Hangul and
# kana in parts, Arabic letters by their place in the word, two Latin ones as one sign.
_FORMS = re.compile(
    "[\u1100-\u11ff\u3041-\u30ff\ufb00-\ufb06\ufb50-\ufdff\ufe70-\ufefc\uff01-\uffdc]+"
)
# Latin letters that have no accent to take off, as Lucene's ASCIIFoldingFilter writes them.
_FOLDED = str.maketrans(
    {"Æ": "AE", "Ø": "O", "ß": "ss", "æ": "ae", "ø": "o", "ı": "i", "Ł": "L", "ł": "l"}
    | {"Œ": "OE", "œ": "oe", "ẞ": "SS"}
)
# Signs that are not seen, or say where a word may be parted. Persian has a word's parts so.
_UNSEEN = regex.compile(
    r"(?V1)(?<=[[\p{L}\p{M}]--\p{Arabic}])[\u00ad\u200c\u200d]+(?=[\p{L}\p{M}])"
)
# The dot below a letter of Hindi, which many leave out.
_NUKTA = "\u093c"
# Thai that looks the same: two signs e for one ae, and am in its parts around a tone.
_THAI_AM = re.compile("\u0e4d([\u0e48-\u0e4b]?)\u0e32")
# Accents that the index does not take off by itself, as it does from é. Those of Vietnamese stay:
# without them other words look the same, and less was found.
_ACCENTED = re.compile("[\u0386-\u0390\u03aa-\u03b0\u03ca-\u03ce\u0401\u0451\u1f00-\u1fff]")
# One character in all its colours; flags are of two letters.
_PICTURE = regex.compile(
    r"(\p{RI}{2}|(?![\u0000-\u25ff])\p{Extended_Pictographic})[\ufe0f\U0001f3fb-\U0001f3ff]*"
    r"|[\U0001f3fb-\U0001f3ff]+"
)
_ARABIC = regex.compile(r"\p{Arabic}[\p{Arabic}\p{M}]*")
_VOWELS = re.compile("[\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]")
_SPELLINGS = str.maketrans("أإآٱىیکة", "ااااييكه")
_ARTICLE = re.compile("^(?:[وبكف]?ال|لل)(?=..)")
# Japanese and Korean texts are of several of the scripts, and a word may be too.
_UNSPACED = regex.compile(
    r"(?V1)(?:[[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}ー]&&[\p{L}\p{N}\p{M}]]\p{M}*)+"
    r"|[[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]&&[\p{L}\p{M}]]+"
)
_CLUSTER = regex.compile(r"\X")


def segmented(text: str) -> str:
    """``text`` with blanks between the words that are looked for.

    Scripts without blanks (Chinese, Japanese, Korean too; Thai, Lao, Khmer, Burmese) are cut into
    every two characters that follow each other, one alone stands for itself. Letters are written
    one way: composed (NFC), of one width, ``ß`` as ``ss``, Arabic without vowels and article, Hindi
    without nukta. A picture becomes a word.

    >>> segmented("東京都 in 2024年")
    '東京 京都 in 2024 年'
    """
    if text.isascii():
        return text
    # In the order that NFC has, which takes the square of the time to make it.
    text = _MANY_MARKS.sub(lambda found: "".join(sorted(found[0], key=combining)), text)
    text = normalize("NFC", text)
    if not _UNUSUAL.search(text):
        return text
    text = _UNSEEN.sub("", _FORMS.sub(lambda found: normalize("NFKC", found[0]), text))
    text = text.translate(_FOLDED).replace(_NUKTA, "")
    text = _THAI_AM.sub("\\1\u0e33", text.replace("\u0e40\u0e40", "\u0e41"))
    text = _ACCENTED.sub(lambda found: _bare(found[0]), text)
    text = _PICTURE.sub(_pictured, text)
    text = _ARABIC.sub(lambda found: _arabic(found[0]), text)
    # What was between a letter and its accent may be gone.
    text = normalize("NFC", text)
    return " ".join(_UNSPACED.sub(_pairs, text).split())


def _bare(letter: str) -> str:
    return "".join(one for one in normalize("NFD", letter) if not combining(one))


def _pictured(found: regex.Match[str]) -> str:
    picture: str = found[1] or ""
    return f" picture{'x'.join(f'{ord(one):x}' for one in picture)} " if picture else " "


def _arabic(word: str) -> str:
    return _ARTICLE.sub("", _VOWELS.sub("", word).translate(_SPELLINGS))


def _pairs(found: regex.Match[str]) -> str:
    each = _CLUSTER.findall(found[0])
    pairs = map("".join, pairwise(each)) if len(each) > 1 else each
    return f" {' '.join(pairs)} "
