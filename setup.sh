#!/bin/bash
# Brings everything hyperopt needs, then configures and builds it in build/.
# Safe to run again at any time: what is already there is kept.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly torch_version=2.13.0
readonly packages="build-essential ca-certificates cmake cppzmq-dev doctest-dev
  git libcli11-dev libcpp-httplib-dev libeigen3-dev libfmt-dev libnlopt-dev librapidcheck-dev libspdlog-dev libsqlite3-dev
  libyaml-cpp-dev libzmq3-dev ninja-build nlohmann-json3-dev node-d3 pkg-config python3
  zlib1g-dev"
readonly trainer_packages="libgloo-dev python3-pip"
readonly developer_packages="chromium chromium-driver clang-format-14 python3-selenium"

usage() {
  cat <<'USAGE'
usage: ./setup.sh [option...]

Installs the Debian packages and LibTorch that hyperopt needs, then configures and
builds it in build/. Runs as root, or asks sudo where a package is missing.

  --no-trainer   all but hyperopt-train; LibTorch is not fetched
  --user         without root: install no package, but say which are missing
  --gpu          the trainer with CUDA and NCCL (LibTorch's full wheel, about 3 GB)
  --developer    also the tools for changing the code (clang-format, a browser for tests)
  --deps-only    install what is needed; do not build
  --build-only   build; install nothing
  --jobs N       compile N files at a time (default: the cores, at most one per 2 GB)
  --help         this text

environment:
  HYPEROPT_LIBTORCH   the folder that LibTorch is in or goes to
                      (default: ~/.cache/hyperopt/libtorch, with --gpu libtorch-gpu).
                      A copy of your own is used as it is.
  CMAKE_BUILD_TYPE    Release (default), RelWithDebInfo or Debug
  PYTHON              the python3 whose pip fetches LibTorch (default: /usr/bin/python3)
USAGE
}

say() { echo "setup: $*"; }

fail() {
  echo "setup: error: $*" >&2
  exit 1
}

trainer=ON cuda=OFF user=no developer=no deps=yes build=yes jobs=
parse_options() {
  while [ $# -gt 0 ]; do
    case $1 in
      --no-trainer) trainer=OFF ;;
      --user) user=yes ;;
      --gpu) cuda=ON ;;
      --developer) developer=yes ;;
      --deps-only) build=no ;;
      --build-only) deps=no ;;
      --jobs)
        [ $# -gt 1 ] || { usage >&2; exit 2; }
        jobs=$2
        shift
        ;;
      --jobs=*) jobs=${1#--jobs=} ;;
      --help | -h) usage; exit 0 ;;
      *)
        echo "setup: unknown option $1" >&2
        usage >&2
        exit 2
        ;;
    esac
    shift
  done
  [[ $jobs =~ ^([1-9][0-9]*)?$ ]] || { echo "setup: --jobs wants a number, not $jobs" >&2; exit 2; }
  [ "$deps$build" != nono ] || { echo "setup: --deps-only and --build-only exclude each other" >&2; exit 2; }
  [ "$trainer$cuda" != OFFON ] || { echo "setup: --gpu is for the trainer, which --no-trainer leaves out" >&2; exit 2; }
}

# --- Debian packages ------------------------------------------------------------------

wanted_packages() {
  echo $packages
  [ "$trainer" = OFF ] || echo $trainer_packages
  [ "$developer" = no ] || echo $developer_packages
}

is_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "this is no Debian: install the counterparts of these packages yourself:"
    say "  $(wanted_packages | tr '\n' ' ')"
    say "going on; the configure step names what it does not find"
    return
  fi
  local missing=() package
  for package in $(wanted_packages); do
    is_installed "$package" || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    say "all Debian packages are there"
    return
  fi
  local command="apt-get install -y --no-install-recommends ${missing[*]}"
  if [ $user = yes ]; then
    fail "missing Debian packages; ask for
  $command"
  fi
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "packages are missing and there is no sudo; as root, run
  $command
or run ./setup.sh as root"
    as_root=(sudo)
  fi
  say "installing: ${missing[*]}"
  "${as_root[@]}" apt-get -q -o Acquire::Retries=3 -o DPkg::Lock::Timeout=120 update
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -o Acquire::Retries=3 -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 \
    install -y --no-install-recommends "${missing[@]}"
}

# --- LibTorch -------------------------------------------------------------------------
# The torch wheel holds headers and libraries. A copy is built in DIR.part and renamed to
# DIR once the stamp is in it, so a DIR with a stamp is never half a copy.

readonly stamp=.hyperopt-libtorch

libtorch_dir() {
  local name=libtorch
  [ $cuda = OFF ] || name=libtorch-gpu
  realpath -m -- "${HYPEROPT_LIBTORCH:-$(echo ~)/.cache/hyperopt/$name}"
}

# What is asked of a copy: its version and whether all CUDA libraries are in it.
libtorch_wanted() {
  if [ $cuda = ON ]; then echo "torch==$torch_version full"; else echo "torch==$torch_version"; fi
}

looks_complete() {
  [ -f "$1/torch/include/torch/csrc/api/include/torch/torch.h" ] &&
    [ -f "$1/torch/lib/libtorch_cpu.so" ] && [ -f "$1/torch/lib/libc10.so" ]
}

fetch_libtorch() {
  local dir=$1 python=${PYTHON:-/usr/bin/python3}
  command -v "$python" >/dev/null || python=python3
  "$python" -m pip --version >/dev/null 2>&1 ||
    fail "$python has no pip; bring it with
  apt-get install -y python3-pip"
  local wheels=("torch==$torch_version")
  if [ $cuda = OFF ]; then
    # Without a GPU these are the only companions that libtorch_cpu.so needs to load.
    wheels=(--no-deps "${wheels[@]}" "nvidia-cuda-runtime==13.0.*" "nvidia-cuda-cupti==13.0.*")
  fi
  rm -rf "$dir.part"
  "$python" -m pip install --quiet --no-compile --no-cache-dir --root-user-action=ignore \
    --disable-pip-version-check --no-warn-script-location --target "$dir.part" "${wheels[@]}" ||
    fail "LibTorch could not be fetched; run ./setup.sh again, or build without the trainer:
  ./setup.sh --no-trainer"
  looks_complete "$dir.part" || fail "the torch wheel holds no LibTorch: $dir.part"
  libtorch_wanted >"$dir.part/$stamp"
  rm -rf "$dir"
  mv "$dir.part" "$dir"
}

install_libtorch() {
  local dir
  dir=$(libtorch_dir)
  if [ -f "$dir/$stamp" ] && [ "$(cat "$dir/$stamp")" = "$(libtorch_wanted)" ]; then
    say "LibTorch $torch_version is there: $dir"
  elif [ ! -f "$dir/$stamp" ] && looks_complete "$dir"; then
    say "using the LibTorch in $dir"
  elif [ ! -f "$dir/$stamp" ] && [ -n "$(ls -A "$dir" 2>/dev/null)" ]; then
    fail "$dir is neither LibTorch nor empty; remove it or set HYPEROPT_LIBTORCH"
  else
    say "fetching LibTorch $torch_version into $dir"
    mkdir -p "$(dirname "$dir")"
    # Two runs at once would remove each other's half copy.
    (flock 9 && fetch_libtorch "$dir") 9>"$dir.lock"
  fi
}

# --- Build ----------------------------------------------------------------------------

default_jobs() {
  local cores gigabytes
  cores=$(nproc)
  # A file that includes torch/torch.h takes about 2 GB to compile.
  gigabytes=$(awk '/^MemTotal:/ {print int($2 / 2 / 1024 / 1024)}' /proc/meminfo)
  [ "$gigabytes" -ge 1 ] || gigabytes=1
  echo $((cores < gigabytes ? cores : gigabytes))
}

configure() {
  local args=("-DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE:-Release}"
    "-DHYPEROPT_TRAINER=$trainer" "-DHYPEROPT_CUDA=$cuda")
  [ $trainer = OFF ] || args+=("-DHYPEROPT_LIBTORCH=$(libtorch_dir)")
  if [ ! -f build/CMakeCache.txt ]; then
    args+=(-G Ninja)
  elif ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" build/CMakeCache.txt; then
    say "build/ was configured for another folder; starting it over"
    args+=(--fresh)
  fi
  cmake -S . -B build "${args[@]}"
}

build_all() {
  local parallel=${jobs:-$(default_jobs)}
  say "configuring build/ (${CMAKE_BUILD_TYPE:-Release}, trainer $trainer, CUDA $cuda)"
  configure
  say "building with $parallel jobs"
  cmake --build build --parallel "$parallel"
  say "done: build/hyperopt"
}

parse_options "$@"
if [ $deps = yes ]; then
  install_packages
  [ $trainer = OFF ] || install_libtorch
fi
[ $build = no ] || build_all
