#!/usr/bin/env bash
# Brings ROCm's user space (hiprtc, comgr, HIP headers) into a private folder, from Debian's
# packages, so that any machine can compile for MI300. Installs nothing; needs no root, no GPU.
# Where no suite has it: clang 19, which with our own headers compiles for inspection only.
#
#   KERNEL_SCIENTIST_ROCM           where to put it        (default: .rocm beside this repository)
#   KERNEL_SCIENTIST_DEBIAN_MIRROR  a Debian mirror's URL  (default: from this machine's sources)
#   KERNEL_SCIENTIST_ROCM_RUNGS     which rungs to try     (default: "experimental forky clang")
#
# Rungs: ROCm 7 from experimental, else ROCm 6.4 from forky, else clang 19 from stable.
# Prints one line of JSON, which is also the folder's toolchain.json: rung, paths, versions.
set -euo pipefail

recipe=1 # raise it to make existing folders be fetched anew
target=${KERNEL_SCIENTIST_ROCM:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/.rocm}
rungs=${KERNEL_SCIENTIST_ROCM_RUNGS:-experimental forky clang}
target=${target%/}
work= # the scratch folder; removed whatever happens

say() { printf 'rocm_toolchain: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

finish_if_present() {
  local stamp=$target/toolchain.json
  [ -s "$stamp" ] && grep -q "\"recipe\": $recipe," "$stamp" || return 0
  # A folder fetched by a lower rung stays: run with KERNEL_SCIENTIST_ROCM_RUNGS and an empty
  # folder to fetch another.
  cat "$stamp"
  exit 0
}

check_host() {
  local tool
  [ "$(uname -sm)" = "Linux x86_64" ] ||
    fail "ROCm's packages are for Linux x86_64, this is $(uname -sm); nothing was fetched"
  for tool in apt-get apt-cache apt-config dpkg dpkg-deb flock; do
    command -v "$tool" >/dev/null || fail "$tool is missing: this needs Debian's or Ubuntu's" \
      "tools; elsewhere install ROCm itself and set ROCM_PATH to it"
  done
}

# One URI a line, of this machine's enabled Debian sources (deb822 and one-line), no security ones.
debian_uris() {
  local files
  files=$(find /etc/apt/sources.list.d -maxdepth 1 -name '*.sources' 2>/dev/null | sort)
  [ -z "$files" ] || awk '
    BEGIN { RS = ""; FS = "\n" }
    { types = uris = suites = ""; on = 1
      for (i = 1; i <= NF; i++) {
        key = tolower($i); sub(/:.*/, "", key); value = $i; sub(/^[^:]*:[ \t]*/, "", value)
        if (key == "types") types = value
        else if (key == "uris") uris = value
        else if (key == "suites") suites = value
        else if (key == "enabled" && tolower(value) ~ /^(no|false|0)/) on = 0 }
      if (!on || (" " types " ") !~ / deb / || suites ~ /-security/) next
      n = split(uris, u, /[ \t]+/); for (i = 1; i <= n; i++) print u[i] }' $files
  files=$(find /etc/apt/sources.list /etc/apt/sources.list.d -maxdepth 1 -name '*.list' \
    2>/dev/null | sort)
  [ -z "$files" ] || awk '$1 == "deb" { sub(/\[[^]]*\]/, ""); if ($3 !~ /-security/) print $2 }' \
    $files
}

debian_mirror() {
  if [ -n "${KERNEL_SCIENTIST_DEBIAN_MIRROR:-}" ]; then
    printf '%s\n' "$KERNEL_SCIENTIST_DEBIAN_MIRROR"
  elif grep -qx 'ID=debian' /etc/os-release 2>/dev/null; then
    debian_uris | grep -E 'debian' | grep -vE 'debian-security' | head -n 1 || true
  fi
}

# The keys that sign Debian's archive; on Ubuntu they come as a package of its own mirror.
debian_keys() {
  local key
  for key in /usr/share/keyrings/debian-archive-keyring.{pgp,gpg}; do
    [ -r "$key" ] && { printf '%s\n' "$key"; return; }
  done
  mkdir -p "$work/keys"
  (own_sources && cd "$work/keys" && apt-get -q download debian-archive-keyring &&
    dpkg -x debian-archive-keyring_*.deb .) >"$work/keys.log" 2>&1 || true
  find "$work/keys" -name 'debian-archive-keyring.*pg' | head -n 1
}

# An APT configuration that shares nothing with the system's but its proxy settings.
# $1: name; $2: dpkg status file; $3: sources file, or empty for the machine's own sources.
configure() {
  local state=$work/apt-$1
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/log"
  {
    printf 'Dir::Etc::main "/dev/null";\nDir::Etc::parts "/dev/null";\n'
    if [ -n "$3" ]; then
      printf 'Dir::Etc::sourcelist "%s";\nDir::Etc::sourceparts "/dev/null";\n' "$3"
      printf 'Dir::Etc::preferences "/dev/null";\nDir::Etc::preferencesparts "/dev/null";\n'
    fi
    printf 'Dir::State "%s";\nDir::State::lists "%s/lists";\n' "$state" "$state"
    printf 'Dir::State::status "%s";\nDir::Cache "%s/cache";\nDir::Log "%s/log";\n' \
      "$2" "$state" "$state"
    printf 'APT::Architecture "amd64";\nAPT::Architectures "amd64";\nAPT::Sandbox::User "";\n'
    printf 'Acquire::Languages "none";\nAcquire::Retries "3";\nAcquire::http::Timeout "30";\n'
    apt-config dump | grep -E '^Acquire::(https?::|ftp::|Check-)' || true
  } >"$state.conf"
  export APT_CONFIG=$state.conf
}

own_sources() {
  configure own /var/lib/dpkg/status ""
  apt-get -q update
}

# $1: a name, $@: suites. From here on APT knows these suites, and nothing else.
open_suites() {
  local name=$1 mirror keys
  shift
  mirror=$(debian_mirror)
  [ -n "$mirror" ] || { say "$name: no Debian mirror in this machine's sources; set" \
    "KERNEL_SCIENTIST_DEBIAN_MIRROR to the URL of one"; return 1; }
  keys=$(debian_keys)
  [ -n "$keys" ] || { say "$name: no debian-archive-keyring here or in this machine's sources:" \
    "install that package"; return 1; }
  for s in "$@"; do printf 'deb [signed-by=%s] %s %s main\n' "$keys" "$mirror" "$s"; done \
    >"$work/$name.list"
  : >"$work/empty-status"
  configure "$name" "$work/empty-status" "$work/$name.list"
  apt-get -q -o APT::Update::Error-Mode=any update >"$work/log" 2>&1 ||
    { say "$name: no package lists from the Debian mirror:" \
    "$(grep -m 1 -E '^[EW]:' "$work/log" || echo 'see the network')"; return 1; }
}

# $1: the name that open_suites got, $2: the suite preferred, $@: packages.
download() {
  local name=$1 suite=$2
  shift 2
  apt-get -q -y --download-only --no-install-recommends -t "$suite" install "$@" \
    >"$work/log" 2>&1 ||
    { say "$name: download failed: $(grep -m 1 '^E:' "$work/log" || true)"; return 1; }
}

# $1: rung's name, $@: suites, the first one preferred. Leaves $work/root.
fetch_rocm() {
  local name=$1 suite=$2 llvm
  open_suites "$@" || return 1
  # comgr's device libraries go by the number of the LLVM that it is built with.
  llvm=$(apt-get -s --no-install-recommends -t "$suite" install libamdhip64-dev 2>/dev/null |
    sed -n 's/^Inst libllvm\([0-9]*\) .*/\1/p' | sort -n | tail -n 1)
  [ -n "$llvm" ] || { say "$name: no ROCm packages that can be installed together"; return 1; }
  download "$name" "$suite" libamdhip64-dev "rocm-device-libs-$llvm" && unpack "$name"
}

# What clang needs to run is told by its own loader; what it only recommends stays packed.
fetch_clang() {
  local suite
  for suite in stable testing; do
    open_suites "$suite" "$suite" &&
      download "$suite" "$suite" clang-19 lld-19 llvm-19 &&
      unpack "$suite" '(-dev|san[0-9]+|binutils.*|libclang1-[0-9]+)$' && arrange_clang && return 0
  done
  return 1
}

# Leaves $work/root with bin/{clang++,lld,llvm-objdump}: scripts that start the programs in
# libexec/ with the loader and the libraries of lib/, as the machine's libc may be older.
arrange_clang() {
  local from=$work/unpacked/usr lib tool
  lib=$from/lib/x86_64-linux-gnu
  rm -rf "$work/unpacked"
  mv "$work/root" "$work/unpacked"
  mkdir -p "$work/root"/{bin,lib,libexec}
  cp -L "$lib/ld-linux-x86-64.so.2" "$work/root/lib/"
  for tool in clang++ lld llvm-objdump; do
    cp -L "$from/lib/llvm-19/bin/$tool" "$work/root/libexec/"
    "$lib/ld-linux-x86-64.so.2" --library-path "$lib" --list "$work/root/libexec/$tool" \
      >"$work/log" 2>&1 && ! grep -q 'not found' "$work/log" ||
      { say "clang: $tool does not load: $(grep -m 1 'not found' "$work/log" || true)"; return 1; }
    awk -v lib="$lib/" 'index($3, lib) == 1 { print $3 }' "$work/log" |
      xargs -r cp -Lt "$work/root/lib" || { say "clang: cannot copy $tool: is the disk full?"
      return 1; }
    # shellcheck disable=SC2016 # the script's own variables
    printf '#!/bin/sh\nroot=${0%%/*}/..\nexec "$root/lib/ld-linux-x86-64.so.2" --argv0 "$0" \
  --library-path "$root/lib" "$root/libexec/%s" "$@"\n' "$tool" >"$work/root/bin/$tool"
    chmod 755 "$work/root/bin/$tool"
  done
  rm -rf "$work/unpacked"
}

# $1: the name that open_suites got, $2: a pattern of packages' names to leave out.
unpack() {
  local deb package
  rm -rf "$work/root"
  mkdir "$work/root"
  : >"$work/versions"
  for deb in "$work/apt-$1"/cache/archives/*.deb; do
    package=${deb##*/}
    [[ -z ${2:-} || ! ${package%%_*} =~ $2 ]] || continue
    dpkg-deb -x "$deb" "$work/root" || { say "cannot unpack ${deb##*/}: is the disk full?"
      return 1; }
    # shellcheck disable=SC2016 # dpkg-deb fills these in
    dpkg-deb -W --showformat='${Package} ${Version}\n' "$deb" >>"$work/versions"
  done
  rm -rf "$work/root"/usr/share/{doc,man,locale,lintian,bug} "$work/root"/{etc,var}
}

version_of() { awk -v p="$1" '$1 ~ "^" p "$" { print $2; exit }' "$work/versions"; }

# hiprtc must be loadable by its own loader, with nothing missing. Prints the JSON.
describe_rocm() {
  local lib=usr/lib/x86_64-linux-gnu hiprtc loader
  loader=$lib/ld-linux-x86-64.so.2
  hiprtc=$(cd "$work/root/$lib" && find . -maxdepth 1 -name 'libhiprtc.so.[0-9]' -printf '%f\n')
  [ -n "$hiprtc" ] && [ -x "$work/root/$loader" ] || { say "$1: the packages hold no hiprtc"
    return 1; }
  "$work/root/$loader" --library-path "$work/root/$lib" --list "$work/root/$lib/$hiprtc" \
    >"$work/log" 2>&1 && ! grep -q 'not found' "$work/log" ||
    { say "$1: hiprtc does not load: $(grep -m 1 'not found' "$work/log" || true)"; return 1; }
  printf '{"recipe": %s, "rung": "%s", "loader": "root/%s", "libraries": "root/%s", ' \
    "$recipe" "$1" "$loader" "$lib"
  printf '"hiprtc": "%s", "include": "root/usr/include", "versions": {' "$hiprtc"
  printf '"hiprtc": "%s", "comgr": "%s", "llvm": "%s", "glibc": "%s"}}\n' \
    "$(version_of 'libhiprtc[0-9]+')" "$(version_of 'libamd-comgr[0-9]+')" \
    "$(version_of 'libllvm[0-9]+')" "$(version_of libc6)"
}

describe_clang() {
  local version
  version=$(version_of clang-19)
  "$work/root/bin/clang++" --version >"$work/log" 2>&1 ||
    { say "clang: it does not start: $(head -n 1 "$work/log")"; return 1; }
  say "clang 19 compiles for inspection: not what hiprtc would generate on the target"
  printf '{"recipe": %s, "rung": "clang", "bin": "root/bin", "versions": {"clang": "%s"}}\n' \
    "$recipe" "${version#*:}"
}

climb() {
  local rung
  for rung in $rungs; do
    say "$rung: fetching"
    case $rung in
      experimental) fetch_rocm experimental experimental sid && describe_rocm "$rung" ;;
      forky) fetch_rocm forky forky && describe_rocm "$rung" ;;
      clang) fetch_clang && describe_clang ;;
      *) fail "KERNEL_SCIENTIST_ROCM_RUNGS names $rung: choose from experimental, forky, clang" ;;
    esac >"$work/toolchain.json" && return 0
  done
  fail "no rung worked (reasons above): check the network and the machine's APT sources," \
    "set KERNEL_SCIENTIST_DEBIAN_MIRROR, or install ROCm and set ROCM_PATH"
}

finish_if_present
check_host
mkdir -p "$(dirname "$target")"
exec 9>"$target.lock"
flock 9 # two sessions at once: the second finds what the first fetched
finish_if_present
work=$(mktemp -d "$target.partial.XXXXXX")
trap 'rm -rf "$work"' EXIT
climb
mkdir "$work/new"
mv "$work/root" "$work/toolchain.json" "$work/new/"
chmod 755 "$work/new"
if [ -d "$target" ] && [ -n "$(ls -A "$target")" ] && [ ! -e "$target/toolchain.json" ]; then
  fail "$target holds other files: empty it, or set KERNEL_SCIENTIST_ROCM to another folder"
fi
rm -rf "$target"
mv "$work/new" "$target"
cat "$target/toolchain.json"
