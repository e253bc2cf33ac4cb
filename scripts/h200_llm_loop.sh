#!/usr/bin/env bash
# The LLM loop on a machine without an index of packages:
# h200_llm_loop.sh FOLDER [TASK[,TASK...]] [SECONDS] [MORE ...]
# Needs .ray/ray.tar.xz (Ray's wheel, unpacked) and .whl/*.whl (openai, pydantic, tree-sitter and
# what they need) beside the repository's files, for the Python that is there. SECONDS: of
# searching, for each task; add two minutes a task for what comes before, between and after.
set -euo pipefail
out=$(mkdir -p "${1:?give the folder for the results}" && cd "$1" && pwd)
tasks=${2:-softmax}
seconds=${3:-300}
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
. scripts/lib/without_index.sh

"$python" -c 'import ray, openai, aiohttp, pydantic, jinja2, rich; print("ray", ray.__version__)'
nvidia-smi --query-gpu=index,name,driver_version,memory.used --format=csv || true
command -v ncu >/dev/null && ncu --version | tail -n 1 || echo "no ncu here: prompts will hold no profile"
how=()
IFS=, read -ra names <<<"$tasks"
for name in "${names[@]}"; do
    how+=(--task "$name")
done
# A little under the ten minutes that one command may take.
timeout -k 10 "${LIMIT:-570}" "$python" -m scripts.llm_loop --backend "${BACKEND:-cuda}" "${how[@]}" \
    --seconds "$seconds" --out "$out/llm_loop.json" "${@:4}" 2>&1 | tee "$out/llm_loop.log"
