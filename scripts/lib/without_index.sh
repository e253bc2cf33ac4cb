# Sourced in the repository's root: packages where no index of them is at hand, from .ray/ray.tar.xz
# (Ray's wheel, unpacked) and .whl/*.whl, for the Python that $python names.
site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT

tar -xJf .ray/ray.tar.xz -C "$site"
for wheel in .whl/*.whl; do
    "$python" -m zipfile -e "$wheel" "$site"
done
# Unzipping leaves programs without the right to be run.
find "$site/ray" -type f \( -path '*/core/src/ray/*' -o -name '*.sh' \) -exec chmod u+x {} +
export PYTHONPATH="$PWD:$site${PYTHONPATH:+:$PYTHONPATH}"
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 RAY_USAGE_STATS_ENABLED=0
ulimit -n "$(ulimit -Hn)" || true
