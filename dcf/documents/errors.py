"""Why a document is refused. A class's docstring is its message."""

from __future__ import annotations

from dcf.problem import ProblemError

_ENDED = "nothing of it was kept; what it was made from may be smaller, or whole"


class DocumentProblem(ProblemError):
    """The document cannot be read."""

    code = "document_problem"


class UnknownFormat(DocumentProblem):
    """It is of no format that is read, by its ending {ending!r}."""

    code = "document_format"
    hint = "Markdown, text, HTML, code, CSV, PDF, DOCX, notebooks (.ipynb) and e-mail (.eml) are"


class NotText(DocumentProblem):
    """It is called {format} and is no text: it has a NUL at byte {at:,}."""

    code = "document_binary"


class NoRegularFile(DocumentProblem):
    """It is no regular file."""

    code = "document_odd"
    hint = "pipes, devices and folders are not read as documents"


class TooLarge(DocumentProblem):
    """It has {size:,} bytes; a document has at most {most:,}."""

    code = "document_large"
    hint = "add parts of it"


class TooMuchText(DocumentProblem):
    """It holds more than {most:,} characters of text."""

    code = "document_much_text"
    hint = "add it in parts; a small file that holds so much may have been made to do harm"


class TooManyPieces(DocumentProblem):
    """It is cut into more than {most:,} pieces, as its headings, pages or cells have it."""

    code = "document_many_pieces"
    hint = "add it in parts; most of its sections or cells say next to nothing"


class TooSlow(DocumentProblem):
    """To read it takes more than {seconds:g} s of processor time."""

    code = "document_slow"
    hint = _ENDED


class TooMuchMemory(DocumentProblem):
    """To read it takes more than {megabytes:,} MB of memory."""

    code = "document_memory"
    hint = _ENDED


class TooDeep(DocumentProblem):
    """It nests too deep to be read."""

    code = "document_deep"
    hint = _ENDED


class ReaderDied(DocumentProblem):
    """The process that read it died ({cause}): it is damaged, or needs over {megabytes:,} MB."""

    code = "document_deadly"
    hint = _ENDED


class Corrupt(DocumentProblem):
    """It is called {format} and cannot be read as that: {reason}."""

    code = "document_corrupt"
    hint = "open it in the program that made it, and save it anew"


class Encrypted(DocumentProblem):
    """It is encrypted."""

    code = "document_encrypted"
    hint = "save it without a password, and add that; whoever reads the memory reads what it says"


class Scanned(DocumentProblem):
    """It has no text on any of its {pages:,} pages, which are pictures: it was scanned."""

    code = "document_scanned"
    hint = "recognise its text first, as `ocrmypdf` does, and add what comes of that"


class NoText(DocumentProblem):
    """There is no text in it."""

    code = "document_empty"


class ReaderMissing(DocumentProblem):
    """What reads {format} is not installed: the package {package}."""

    code = "document_reader_missing"

    def __init__(self, *, format: str, package: str) -> None:
        # Each process that reads would else load what only this one needs.
        from dcf_agents.installation import extra_command

        self.hint = extra_command("documents")
        super().__init__(format=format, package=package)
