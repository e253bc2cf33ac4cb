#!/bin/bash
# A campaign on the nodes of a Slurm allocation, from a checkout with .venv on storage that all see:
#
#   sbatch configs/cluster/slurm.sh configs/mi300x.yaml first /shared/copies [KEY=VALUE ...]
#
# The second argument names the campaign, the third is a folder on shared storage, where a copy of
# its store goes every minute. The store itself is on the first node's disk, below KS_LOCAL. Ten
# minutes before the time is up the campaign ends in order; the same command goes on with it, also
# on other nodes. docs/cluster.md says more. It was tried with a double of srun, and never on MI300
# nodes.
#SBATCH --job-name=kernel-scientist
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --exclusive
#SBATCH --time=12:00:00
#SBATCH --signal=B:TERM@600
#SBATCH --open-mode=append
set -euo pipefail

fail() {
    echo "slurm.sh: $1" >&2
    exit 2
}

(($# >= 3)) || fail "name a configuration, the campaign and a shared folder: slurm.sh CONFIG NAME FOLDER [KEY=VALUE ...]"
config=$1 name=$2 copies=$3
shift 3
[[ -n ${SLURM_JOB_ID:-} ]] || fail "this runs inside an allocation: sbatch configs/cluster/slurm.sh ..."
[[ -f $config ]] || fail "$config is no file; submit from the checkout's top folder"
[[ -d $copies ]] || fail "$copies is no folder; make it first, on storage that all nodes see"

export PATH=$PWD/.venv/bin:$PATH
command -v kernel-scientist >/dev/null || fail "there is no .venv/bin/kernel-scientist here: run scripts/setup_venv.sh core first"
local_disk=${KS_LOCAL:-/tmp/kernel-scientist-$(id -un)}

mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
port=$((20000 + SLURM_JOB_ID % 20000))
# This script runs on the first node, and so does the campaign.
ip=${KS_HEAD_IP:-$(hostname -I | cut -d' ' -f1)}

RAY_AUTH_TOKEN=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
export RAY_AUTH_TOKEN RAY_AUTH_MODE=token RAY_worker_niceness=0 RAY_USAGE_STATS_ENABLED=0

steps=() campaign=
finish() {
    local status=$?
    trap - EXIT TERM INT
    # A first signal ends a campaign in order, a second one at once: here it has ended, mostly.
    [[ -z $campaign ]] || kill -TERM "$campaign" 2>/dev/null || true
    ((${#steps[@]} == 0)) || kill -TERM "${steps[@]}" 2>/dev/null || true
    wait
    exit "$status"
}
trap finish EXIT

on_node() { # NODE COMMAND ...: for as long as this script lives
    srun --nodes=1 --ntasks=1 --nodelist="$1" --overlap --cpu-bind=none "${@:2}" &
    steps+=($!)
}

common=(--block "--temp-dir=/tmp/ks-$SLURM_JOB_ID" --dashboard-agent-listen-port=0)
on_node "${nodes[0]}" ray start --head "--node-ip-address=$ip" "--port=$port" \
    --include-dashboard=false "--ray-client-server-port=$((port + 1))" "${common[@]}"

await_nodes() { # COUNT: that have joined
    local found=0 step
    for _ in {1..180}; do
        found=$(ray status "--address=$ip:$port" 2>/dev/null | grep -cE '^ *[0-9]+ node_' || true)
        ((found < $1)) || return 0
        for step in "${steps[@]}"; do
            kill -0 "$step" 2>/dev/null || fail "Ray ended on a node before it was up; see above"
        done
        sleep 1
    done
    fail "after three minutes $found of $1 nodes are in the cluster; see above what Ray said"
}

await_nodes 1
for node in "${nodes[@]:1}"; do
    on_node "$node" ray start "--address=$ip:$port" "${common[@]}"
done
await_nodes "${#nodes[@]}"

kernel-scientist run --or-resume "$config" "name=$name" "ray.address=$ip:$port" \
    "runs_dir=$local_disk/runs" "snapshots.folder=$copies" "$@" &
campaign=$!
trap 'kill -TERM "$campaign" 2>/dev/null || true' TERM INT

status=0
wait "$campaign" || status=$?
while kill -0 "$campaign" 2>/dev/null; do # a signal ended the wait, not the campaign
    status=0
    wait "$campaign" || status=$?
done
campaign=
exit "$status"
