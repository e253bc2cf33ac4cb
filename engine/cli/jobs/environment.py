"""Variables that a job is given by name. Ray writes what stands in a job's runtime_env into its
logs, so values go another way: as a package in the cluster's memory, which the job takes from
there, and deletes, before anything else."""

import json
import os
import secrets
from collections.abc import Mapping, Sequence

from engine.actors.passed_on import PASSED
from engine.cli.jobs.cluster import Cluster
from engine.cli.usage import UsageError

OPTION = "--passed"
"""Of scripts/run_campaign.py, before the package's name."""

MARK = b"variables that kernel-scientist passes to a job\n"
"""Comes first: of a package that it can't keep, Ray prints the first 15 bytes."""


def values_of(names: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Raises UsageError: one is not set here."""
    lacking = [name for name in names if not environment.get(name, "").strip()]
    if lacking:
        raise UsageError(
            f"the environment variable {lacking[0]} is to be passed to the job, and is not set "
            f"here; export {lacking[0]} first"
        )
    return {name: environment[name] for name in names}


def hand_over(cluster: Cluster, values: Mapping[str, str]) -> list[str]:
    """Returns the words by which a job finds them; none where there are none."""
    if not values:
        return []
    package = f"gcs://_ray_pkg_{secrets.token_hex(16)}.zip"
    cluster.put(package, MARK + json.dumps(values).encode())
    return [OPTION, package]


def withdraw(cluster: Cluster, words: Sequence[str]) -> None:
    """What was handed over and no job will take."""
    for package in words[1:]:
        cluster.put(package, MARK)


def take_over(package: str) -> list[str]:
    """In the job: into this process's environment; returns their names. Raises UsageError."""
    import ray._raylet

    client = ray._raylet.GcsClient(address=os.environ["RAY_ADDRESS"])  # type: ignore[attr-defined]
    key = package.encode()
    content = client.internal_kv_get(key, None)
    if content is None or len(content) <= len(MARK):
        raise UsageError(
            f"the variables that were passed to this job are no longer kept ({package}): each job "
            "takes its own once; submit another one"
        )
    client.internal_kv_del(key, False, None)
    values: dict[str, str] = json.loads(content.removeprefix(MARK))
    os.environ.update(values)
    os.environ[PASSED] = ",".join(values)
    return list(values)
