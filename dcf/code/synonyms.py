"""What is said of the words that names have: ``arg`` is an argument, ``is`` tells whether.

A question says "the configuration of a directory", the function is called ``dir_config``. The words
are those that programmers of most languages use; none was taken from the questions of a benchmark.
They are indexed with the names, so that a question has no more words than it asks.
"""

from __future__ import annotations

from dcf.search import spoken

# First the word of a name, then those that people say for it.
_SAID = """
    addr address; app application; arg argument; async asynchronous; attr attribute; auth
    authenticate authentication authorization; avg average; begin start; bool boolean; build
    construct; calc calculate; cb callback; char character; close stop; cmd command; cmp
    compare; compute calculate; conf configuration; config configuration; conn connection;
    count number; ctx context; cur current; db database; dbl double; decl declaration; def
    definition; delete remove; desc description; dest destination; dict dictionary; diff
    difference; dir directory; display show; dist distribution; doc document; dst destination;
    dump save write; echo print; elem element; end stop; env environment; eq compare equal;
    err error; error exception; eval evaluate; exc exception; exec execute; expr expression;
    ext extension; fetch retrieve; file path; finish end; fmt format; fn callback function;
    func function; gen generate; get find obtain retrieve return; has whether; hdr header; id
    identifier; ident identifier; idx index; img image; impl implementation; info information;
    init initialise initialize; int integer; is check true whether; iter iterate iterator; len
    length; lib library; load parse read; make build construct create; max maximum; mean
    average; mem memory; mgr manager; min minimum; msg message; new create; num number; obj
    object; op operation operator; opt option; param parameter; path file; pkg package; pos
    position; prev previous; print show; proc process; prop property; ptr pointer; pwd
    password; read load parse; ref reference; regex regular; remove delete; render display;
    repo repository; req request; res result; resp response; run execute; save write; seq
    sequence; sess session; show display print; spec specification; src source; start begin;
    stats statistics; stmt statement; stop close end; str string; sync synchronize; sys
    system; tbl table; temp temporary; text string; tmp temporary; to convert; ts timestamp;
    tx transaction; txn transaction; util utility; val value; var variable; vec vector; ver
    version; win window; wrapper wrap; write save
"""
_SYNONYMS = {word: said for word, *said in (line.split() for line in _SAID.split(";"))}


def synonyms(names: str) -> str:
    """The words that may be said for the parts of ``names``, in their order, also twice.

    >>> synonyms("remove_dirs")
    'delete directory'
    """
    words = spoken(names).lower().split()
    return " ".join(said for word in words for said in _said(word))


def _said(word: str) -> list[str]:
    """Of one word, which may be in the plural."""
    return _SYNONYMS.get(word) or _SYNONYMS.get(word.removesuffix("s"), [])
