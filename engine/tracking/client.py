"""MLflow's client: one that gives up soon, and writes to no database of another program."""

import logging
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from mlflow import MlflowClient

ITS_TABLE = "alembic_version"
"""Which every database of MLflow's has."""


def client_of(uri: str) -> "MlflowClient":
    """What a server missed, it is told later. Raises OSError: a database that is not MLflow's."""
    _require_mlflows(uri)
    for name, value in (
        ("MLFLOW_DISABLE_TELEMETRY", "true"),
        ("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0"),
        ("MLFLOW_HTTP_REQUEST_TIMEOUT", "10"),
        ("MLFLOW_ENABLE_ASYNC_TRACE_LOGGING", "false"),
        ("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true"),
    ):
        os.environ.setdefault(name, value)
    import mlflow
    from mlflow import MlflowClient

    mlflow.set_tracking_uri(uri)  # traces go there, whatever the client says

    logging.getLogger("mlflow").setLevel(logging.WARNING)  # how it makes its tables
    return MlflowClient(uri)


def local_database(uri: str) -> Path | None:
    """The file of an address such as sqlite:///runs/mlflow.db; None for another kind of address."""
    parts = urlsplit(uri)
    return Path(parts.path.removeprefix("/")) if parts.scheme == "sqlite" else None


def _require_mlflows(uri: str) -> None:
    """MLflow would make its tables in any database, and try for minutes to open one that can't
    be."""
    file = local_database(uri)
    if file is None or not file.name:
        return
    try:
        with closing(sqlite3.connect(file)) as connection:
            query = "SELECT name FROM sqlite_master WHERE type = 'table'"
            tables = {name for (name,) in connection.execute(query)}
    except sqlite3.Error as error:
        if "locked" in str(error):
            return  # by MLflow, which waits
        raise OSError(f"{file} can't be opened as its database ({error}); name another") from error
    if tables and ITS_TABLE not in tables:
        held = ", ".join(sorted(tables)[:3])
        raise OSError(f"{file} holds tables of another program ({held}); name another database")
