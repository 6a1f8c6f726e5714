"""What can go wrong around a Redis server, each with a stable code and a way out.

The docstring of a class is its message; the names in braces are the fields it is raised with, and
they stay readable as attributes. No field ever holds a password: URLs go through ``redact`` first.
"""

from __future__ import annotations

from typing import ClassVar

from control_plane.errors import ControlPlaneError


class ServerUnusable(ControlPlaneError):
    """The Redis server is not usable."""

    code = "server_unusable"
    remedy: ClassVar[str] = "Run `dcf doctor` to see what is missing."

    def __init__(self, **fields: object) -> None:
        self.message = _fill(type(self).__doc__ or self.code, fields)
        self.hint = _fill(self.remedy, fields)
        super().__init__(f"{self.message} {self.hint}")
        self.fields = fields


class SettingInvalid(ServerUnusable):
    """{name} is {value!r}."""

    code = "setting_invalid"
    remedy = "It can be {choices}."


class BinariesMissing(ServerUnusable):
    """The embedded server cannot run here: {missing}."""

    code = "embedded_binaries_missing"
    remedy = "{remedy}"


class DataFolderUnusable(ServerUnusable):
    """The data folder {folder} cannot be used: {reason}."""

    code = "embedded_folder_unusable"
    remedy = "Give the folder to your user, or choose another one with DCF_HOME."


class StartFailed(ServerUnusable):
    """The {title} server did not start. The end of {log}: {tail}"""

    code = "embedded_start_failed"
    remedy = "Run `dcf doctor`; the whole log is in {log}."


class ServerUnresponsive(ServerUnusable):
    """The {title} server in {folder} runs but has not answered for {seconds:g} seconds."""

    code = "embedded_unresponsive"
    remedy = (
        "It may be swapping, suspended, or run on another machine that shares the folder. "
        "Stop it there, or stop it here with `dcf down`."
    )


class FolderLocked(ServerUnusable):
    """Another process has been starting or stopping the server in {folder} for {seconds:g} s."""

    code = "embedded_folder_locked"
    remedy = "See who holds {lock}, or wait for it to finish."


class StopFailed(ServerUnusable):
    """The {title} server in {folder} is still running (pid {pid}) after SHUTDOWN and signals."""

    code = "embedded_stop_failed"
    remedy = "Look at {log}; a process stuck in disk I/O ends only when the disk answers."


class ServerUnsuitable(ServerUnusable):
    """The Redis server at {server} cannot serve as the control plane."""

    code = "server_unsuitable"
    remedy = "Use Redis 8 or newer (JSON is built in) or Redis Stack 7."


class ServerUrlInvalid(ServerUnsuitable):
    """DCF_REDIS_URL is not a Redis URL: {server} ({reason})."""

    code = "server_url_invalid"
    remedy = (
        "Write redis://[user:password@]host:port/db, rediss://… for TLS, or unix:///path/to/socket."
    )


class ServerUnreachable(ServerUnsuitable):
    """No Redis server answers at {server}: {reason}."""

    code = "server_unreachable"
    remedy = "Start it, correct DCF_REDIS_URL, or unset it to use the embedded server."


class ServerRefusedLogin(ServerUnsuitable):
    """The Redis server at {server} refuses the login: {reason}."""

    code = "server_refused_login"
    remedy = "Put user and password into DCF_REDIS_URL: redis://user:password@host:port/0."


class ServerDatabaseMissing(ServerUnsuitable):
    """The Redis server at {server} has no such database: {reason}."""

    code = "server_database_missing"
    remedy = (
        "End DCF_REDIS_URL with a number below the server's setting `databases` (16 unless "
        "changed), of a cluster with /0: redis://user:password@host:port/0."
    )


class ServerRefusesClient(ServerUnsuitable):
    """The Redis server at {server} refuses what DCF needs: {reason}."""

    code = "server_refuses_client"
    remedy = (
        "Allow the user of DCF_REDIS_URL all keys and commands: ACL SETUSER name ~* +@all; and see "
        "that no command is renamed."
    )


class ServerRefusesForNow(ServerUnsuitable):
    """The Redis server at {server} refuses {scope}: {reason}."""

    # Fields: scope and reason, as in control_plane/refusals.py. It passes by itself.
    code = "server_refuses"
    remedy = "Try again in a moment."


class ServerBusy(ServerRefusesForNow):
    """The Redis server at {server} refuses {scope}: {reason}."""

    code = "server_busy"
    remedy = "Try again in a moment; {help}."


class ServerLoading(ServerRefusesForNow):
    """The Redis server at {server} is still loading its data ({percent:.0f} %)."""

    code = "server_loading"
    remedy = "Try again in about {eta_seconds} s."


class ServerTooOld(ServerUnsuitable):
    """The Redis server at {server} is version {version}; DCF needs {needed} or newer."""

    code = "server_too_old"


class ServerWithoutJson(ServerUnsuitable):
    """The Redis server at {server} (version {version}) has no JSON commands."""

    code = "server_without_json"
    remedy = (
        "This build came without the JSON module: load it (redis-server --loadmodule "
        "/path/to/rejson.so), use Redis Stack, or unset DCF_REDIS_URL for the embedded server."
    )


class ServerReadOnly(ServerRefusesForNow):
    """The Redis server at {server} is a replica: it takes no writes."""

    code = "server_read_only"
    remedy = "Point DCF_REDIS_URL at the primary."


def _fill(pattern: str, fields: dict[str, object]) -> str:
    """Puts ``fields`` into ``pattern``, whose line breaks are only layout."""
    return " ".join(pattern.split()).format(**fields)
