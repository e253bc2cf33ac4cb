#!/usr/bin/env bash
# The challenge's problems on a machine without an index of packages:
# h200_challenge.sh FOLDER ARGUMENT ... (those of scripts/bench_challenge.py)
# Needs .ray/ray.tar.xz (Ray's wheel, unpacked) and .whl/*.whl (openai, pydantic, tree-sitter and
# what they need) beside the repository's files, for the Python that is there.
set -euo pipefail
out=$(mkdir -p "${1:?give the folder for the results}" && cd "$1" && pwd)
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
. scripts/lib/without_index.sh

nvidia-smi --query-gpu=index,name,driver_version,memory.used --format=csv || true
runs=$(mktemp -d)
PYTHONUNBUFFERED=1 timeout -k 10 "${LIMIT:-580}" "$python" -m scripts.bench_challenge --folder "$runs" \
    --out "$out/challenge.json" "${@:2}" 2>&1 | tee "$out/challenge.log"
