#!/usr/bin/env bash
# Serves the tracking server that campaigns report to and people look at.
#   MLFLOW_STATE  folder of its database and artifacts   (default: runs/mlflow in the checkout)
#   MLFLOW_HOST   address to listen on                    (default: 127.0.0.1, this machine only)
#   MLFLOW_PORT   port                                    (default: 5000)
# Further arguments go to `mlflow server`, such as --allowed-hosts when it is reached by a name.
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
mlflow="$here/.venv/bin/mlflow"
if [ ! -x "$mlflow" ]; then
    echo "mlflow/server.sh: $mlflow is not there; run 'make setup' in $here first." >&2
    exit 1
fi

# SQLite must not lie on a network file system: its locks are not kept there.
state=${MLFLOW_STATE:-$here/runs/mlflow}
mkdir -p "$state/artifacts"
state=$(cd "$state" && pwd)

export MLFLOW_DISABLE_TELEMETRY=true
exec "$mlflow" server \
    --backend-store-uri "sqlite:///$state/mlflow.db" \
    --artifacts-destination "file://$state/artifacts" \
    --host "${MLFLOW_HOST:-127.0.0.1}" --port "${MLFLOW_PORT:-5000}" --workers 2 "$@"
