#!/usr/bin/env bash
# Measures throughput on a machine without an index of packages: h200_throughput.sh FOLDER
# Needs .ray/ray.tar.xz (Ray's wheel, unpacked) and .whl/*.whl beside the repository's files.
set -euo pipefail
out=$(mkdir -p "${1:?give the folder for the results}" && cd "$1" && pwd)
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
. scripts/lib/without_index.sh

"$python" -c 'import ray, pydantic, numpy, yaml; print("ray", ray.__version__)'
nvidia-smi --query-gpu=index,name,driver_version,memory.used --format=csv || true
count=$("$python" -c 'from evaluators.device import backend; print(backend("cuda").device_count())')
case $count in
    1) how=(--gpus 1 --rounds 2 --seconds 60) ;;
    2 | 3) how=(--gpus 1,2 --rounds 1 --seconds 60) ;;
    4 | 5 | 6 | 7) how=(--gpus 1,2,4 --rounds 1 --seconds 60) ;;
    *) how=(--gpus 1,2,4,8 --rounds 1 --seconds 50) ;;
esac
"$python" -c 'import matplotlib' 2>/dev/null && how+=(--plot "$out/throughput_x$count.png") ||
    echo "no matplotlib here: draw later with --import throughput_x$count.json --plot"
timeout 540 "$python" -m scripts.bench_throughput --backend cuda "${how[@]}" \
    --out "$out/throughput_x$count.json" "${@:2}" 2>&1 | tee "$out/throughput_x$count.log"
