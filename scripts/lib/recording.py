"""A throughput measurement as an MLflow run, also one that was made where no MLflow is."""

from collections.abc import Mapping
from typing import Any

EXPERIMENT = "kernel-scientist-throughput"


def record_throughput(found: Mapping[str, Any], uri: str) -> str:
    """One run of what scripts/bench_throughput.py found; returns the run's id.

    Raises OSError when MLflow can't take it.
    """
    # Imported here: it takes seconds, and only this needs it.
    import mlflow
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    client = MlflowClient(tracking_uri=uri)
    try:
        known = client.get_experiment_by_name(EXPERIMENT)
        experiment = known.experiment_id if known else client.create_experiment(EXPERIMENT)
        name = f"{found['backend']} {found['task']} {found['size']}"
        run_id: str = client.create_run(experiment, run_name=name).info.run_id
        for key, value in parameters(found).items():
            client.log_param(run_id, key, value)
        for key, number, step in metrics(found):
            client.log_metric(run_id, key, number, step=step)
        client.log_dict(run_id, dict(found), "throughput.json")
        client.set_terminated(run_id)
    except MlflowException as error:
        raise OSError(f"MLflow at {uri} does not take it: {error}") from error
    assert mlflow.__version__  # not the folder of that name beside the packages
    return run_id


def parameters(found: Mapping[str, Any]) -> dict[str, Any]:
    """What was measured, and how."""
    own = {key: value for key, value in found.items() if not isinstance(value, dict | list)}
    arms = next(found[part]["arms"] for part in ("floor", "small", "scaling") if part in found)
    return {**own, "device": arms[0]["device"]}


def metrics(found: Mapping[str, Any]) -> list[tuple[str, float, int]]:
    """(name, value, step); of arms on several devices the step is how many."""
    made: list[tuple[str, float, int]] = []
    floor = found.get("floor", {"arms": []})
    if "ratio" in floor:
        made.append(("campaign_over_bare_loop", floor["ratio"], 0))
    for number, arm in enumerate(floor["arms"]):
        path = arm["path"].replace(" ", "_")
        made.append((f"{path}.candidates_per_hour", arm["candidates_per_hour"], number))
        made.append((f"{path}.busy", arm["busy"], number))
        for stage, (middle, high) in arm["latencies_ms"].items():
            made.append((f"{path}.{stage}_ms.p50", middle, number))
            made.append((f"{path}.{stage}_ms.p95", high, number))
    for part, name in (("scaling", "by_devices"), ("small", "small_by_devices")):
        for arm in found.get(part, {"arms": []})["arms"]:
            for key in ("candidates_per_hour", "busy", "gain", "efficiency"):
                made.append((f"{name}.{key}", arm[key], arm["devices"]))
    return made
