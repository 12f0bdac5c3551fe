# shellcheck shell=bash
# For the scripts that set up, to source: they tell what they begin, how far they are, and what a download lacks.

# step TEXT…: names the step that begins. The script sets `steps` before the first one, to how many there are.
step() { echo "${0##*/}: $((step_number += 1))/$steps $*" >&2; }
step_number=0

# show_progress NAME [tenths]: reads apt's progress (APT::Status-Fd) from standard input until its end. A terminal has one
# line, which is written again and again. Elsewhere `tenths` prints a line for each tenth; without it there is none.
show_progress() {
  # apt has Ctrl-C too, and ends in good order: at once while it downloads. The end is that of its output.
  trap '[ "$phase" != installing ] || printf "\n%s: Ctrl-C: apt ends what it installs first\n" "$1" >&2' INT
  local line phase= percent text tenth shown=
  while IFS= read -r line; do
    [[ $line =~ ^(dl|pm)status:.*:([0-9]+)([.,][0-9]*)?:(.*)$ ]] || continue
    phase=downloading percent=${BASH_REMATCH[2]} text=${BASH_REMATCH[4]}
    [ "${BASH_REMATCH[1]}" = dl ] || phase=installing
    if [ -t 2 ]; then
      printf '\r\033[K%s: %s %s %%: %.50s' "$1" $phase "$percent" "$text" >&2
    elif [ "${2:-}" = tenths ]; then
      tenth="$phase $((percent / 10))0 %"
      [ "$tenth" = "$shown" ] || [ "$percent" -lt 10 ] || echo "$1: $tenth" >&2
      shown=$tenth
    fi
  done
  [ ! -t 2 ] || printf '\r\033[K' >&2
}

# install_packages TARGET: script/bootstrap for the background, whose end await_packages waits for. Ctrl-C reaches it there
# too, and what it prints then.
install_packages() {
  mkdir -p "${packages_log%/*}"
  : >"$packages_log"
  env --default-signal=INT script/bootstrap "$1" 2>&1 | tee -i "$packages_log" >&2
}
packages_log=build/packages.log

# await_packages PROCESS: waits for the end of install_packages, and ends the script where it failed.
await_packages() {
  local status=0
  wait "$1" || status=$?
  [ $status -eq 0 ] || {
    echo "${0##*/}: packages are missing, which ends it here (exit status $status, $packages_log):" >&2
    tail -n 25 "$packages_log" >&2
    exit 1
  }
}

# fetch_guests [all]: downloads, in a process of its own, what the guest tests would download one after another: those of
# cmake/ci_tests.cmake, or all but a few. Each test reports a missing download itself, and end_fetches all of them.
fetch_guests() {
  local fetch status wanted=('linux-guest --userland' 'qemu 7.2')
  [ "${1:-}" != all ] || wanted=('linux-guest --vmlinux --userland --headers' 'linux-guest --arch i386 --userland' 'qemu 7.2' viewers)
  for fetch in "${wanted[@]}"; do
    status=0
    # shellcheck disable=SC2086 # one word an argument
    timeout --foreground 600 script/fetch-$fetch >&2 || status=$?
    [ $status -eq 0 ] || echo "missing: script/fetch-$fetch (exit status $status; 124: more than 10 minutes)" >&2
  done
} >/dev/null 2>"$fetch_log"
fetch_log=build/downloads.log

# say_fetches [all]: what fetch_guests is about to do.
say_fetches() {
  mkdir -p "${fetch_log%/*}"
  : >"$fetch_log"
  echo "${0##*/}: beside the build, script/fetch-* download kernels, programs and QEMU 7.2 for the guest tests:" \
    "up to $([ "${1:-}" = all ] && echo 520 || echo 120) MB, less what is in ${RINGSIDE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ringside} ($fetch_log)" >&2
}

# end_fetches PROCESS: ends the group of fetch_guests and tells what it could not download.
end_fetches() {
  if kill -- "-$1" 2>/dev/null; then echo "${0##*/}: the downloads were not complete ($fetch_log)" >&2; fi
  sed -n "s/^missing: /${0##*/}: missing is the download of /p" "$fetch_log" >&2
}

# skip_shims: where python3 is a program that looks for an interpreter at each start, as pyenv's is (0.6 s of processor
# time), PATH gets the interpreter's folder, unless it has it. Builds and tests begin it some hundred times.
skip_shims() {
  local interpreter
  interpreter=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) || return 0
  [[ $interpreter = /*/* && :$PATH: != *:${interpreter%/*}:* ]] || return 0
  export PATH=${interpreter%/*}:$PATH
}

# run_build PRESET [TARGET…]: builds, and tells before how many steps that has, and about how long they take. A step of a
# whole build takes 1.7 s of processor time (2 processors of a cloud machine, 2026).
run_build() {
  local todo minutes
  todo=$(ninja -C "build/$1" -n "${@:2}" 2>/dev/null | sed -n 's/^\[1\/\([0-9]*\)\].*/\1/p') || true
  minutes=$((${todo:-0} * 17 / 10 / 60 / $(nproc)))
  [ -z "$todo" ] || echo "build: $todo steps in build/$1$([ $minutes -eq 0 ] || echo ", about $minutes minutes on $(nproc) processors")" >&2
  cmake --build "build/$1" ${2:+--target "${@:2}"}
}
