"""What can go wrong in the workspace. A class's docstring is its default message."""

from __future__ import annotations


class WorkspaceError(Exception):
    """The workspace refused. ``code`` is stable; ``fields`` are the facts of the message."""

    code = "workspace_error"

    def __init__(self, message: str | None = None, **fields: object) -> None:
        self.fields = fields
        text = message if message is not None else (type(self).__doc__ or "")
        super().__init__(text.format(**fields) if message is None else text)


class BadKey(WorkspaceError):
    """{key!r} cannot be the key of a document: {rule}."""

    code = "bad_key"


class KeyOutsidePrefix(WorkspaceError):
    """Documents have keys that begin with {prefix!r}; {key!r} does not."""

    code = "key_outside_prefix"


class DocumentNotFound(WorkspaceError):
    """Key not found: there is no document {key!r}."""

    code = "key_not_found"


class DocumentExists(WorkspaceError):
    """There is a document {key!r} already, and overwrite is not set."""

    code = "document_exists"


class NotADocument(WorkspaceError):
    """The key {key!r} holds something that is no JSON document."""

    code = "not_a_document"


class BadPath(WorkspaceError):
    """{path!r} is no path: {rule}."""

    code = "bad_path"


class BadValue(WorkspaceError):
    """{what} cannot be read: {rule}."""

    code = "bad_value"


class TooLarge(WorkspaceError):
    """{what} has {size} bytes; at most {limit} are taken."""

    code = "too_large"


class RootNotAnObject(WorkspaceError):
    """The root of a document is an object; {what} is not."""

    code = "root_not_an_object"


class RootNotSupported(WorkspaceError):
    """{operation} needs a place inside the document, not its root."""

    code = "root_not_supported"


class NotAnArray(WorkspaceError):
    """What stands at {path} is no array."""

    code = "not_an_array"


class IndexOutOfRange(WorkspaceError):
    """The array at {path} has no element {index}: arrays grow by appending."""

    code = "index_out_of_range"


class NotANumber(WorkspaceError):
    """What stands at {path} is no number."""

    code = "not_a_number"


class NotFinite(WorkspaceError):
    """The sum at {path} is no finite number."""

    code = "not_finite"


class SourceMissing(WorkspaceError):
    """There is nothing at {path}."""

    code = "source_missing"


class DestinationExists(WorkspaceError):
    """There is something at {path} already, and overwrite is not set."""

    code = "destination_exists"


class IntoItself(WorkspaceError):
    """{source} cannot be moved to {target}, which is itself or inside it."""

    code = "into_itself"


class Contended(WorkspaceError):
    """The document {key!r} is changed by others all the time; nothing was written."""

    code = "conflict"


class FileRefused(WorkspaceError):
    """A file operation was not done. ``code`` is given with it, ``message`` says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
