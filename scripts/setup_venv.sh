#!/usr/bin/env bash
# Sets up .venv from the lock files: setup_venv.sh core|dev (PYTHON chooses the interpreter).
set -euo pipefail

UV_VERSION=0.13.8

fail() { echo "setup: $1" >&2; exit 1; }

# The first interpreter that starts, and is 3.11 or newer. A name on PATH may be a shim that does not start.
find_python() {
    local name
    for name in ${PYTHON:-python3 python3.12 python3.11 python3.13}; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            echo "$name"
            return
        fi
    done
    fail "no Python 3.11 or newer among: ${PYTHON:-python3 python3.12 python3.11 python3.13}; install one (on Debian 12 or Ubuntu 24.04: apt install python3 python3-venv) or name it with PYTHON=/path/to/python3."
}

make_venv() {
    local python version
    python=$(find_python)
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    "$python" -c 'import venv, ensurepip' 2>/dev/null ||
        fail "$python ($version) lacks the modules venv and ensurepip; install them (on Debian or Ubuntu: apt install python$version-venv)."
    "$python" -m venv --clear .venv
}

# A value from pip's configuration files; nothing if it is not set.
pip_setting() {
    .venv/bin/python -m pip config list | sed -n "s/^global\.$1='\(.*\)'\$/\1/p"
}

# uv does not read pip's configuration: hand over this machine's own mirror and certificates.
configure_uv() {
    local index certificates
    index=${UV_DEFAULT_INDEX:-${PIP_INDEX_URL:-$(pip_setting index-url)}}
    certificates=${SSL_CERT_FILE:-${PIP_CERT:-$(pip_setting cert)}}
    if [ -n "$index" ]; then export UV_DEFAULT_INDEX="$index"; fi
    if [ -n "$certificates" ]; then
        export SSL_CERT_FILE="$certificates"
    elif [ -s /etc/ssl/certs/ca-certificates.crt ]; then
        export UV_SYSTEM_CERTS=true
    fi
    # An account without a writable home keeps uv's cache in .venv.
    [ -w "${HOME:-/nonexistent}" ] || export UV_CACHE_DIR="${UV_CACHE_DIR:-$PWD/.venv/.uv-cache}"
}

case "${1:-}" in
    core) lock=requirements.lock ;;
    dev) lock=requirements-dev.lock ;;
    *) fail "say which set: setup_venv.sh core, or setup_venv.sh dev." ;;
esac

cd "$(dirname "$0")/.."
.venv/bin/python -m pip --version >/dev/null 2>&1 || make_venv

export PIP_DISABLE_PIP_VERSION_CHECK=1
configure_uv
.venv/bin/python -m pip install --quiet "uv==$UV_VERSION"
install=(.venv/bin/uv pip install --python .venv/bin/python)

echo "setup: installing $lock into .venv (0.4 GB to download, 1.8 GB on disk; the first time takes a while)"
"${install[@]}" --compile-bytecode --require-hashes -r "$lock"
# The cpu backend compiles kernels with the system's C++ compiler; without one, with Zig's.
if ! command -v g++ >/dev/null && ! command -v clang++ >/dev/null; then
    echo "setup: neither g++ nor clang++ is on PATH: installing Zig's C++ compiler"
    "${install[@]}" --require-hashes -r requirements-zig.lock
fi
"${install[@]}" --quiet --no-deps --editable .

touch .venv/.core
if [ "$1" = dev ]; then touch .venv/.dev; fi
