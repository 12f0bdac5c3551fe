#!/usr/bin/env bash
# A new user's first ten minutes, with the ringside and the QEMU in PATH. In each case
# the first report has names, or one line says what to give. script/test-deb runs it in a clean
# Debian; it needs no other file of the project, and writes into a temporary folder only.
#   first_minutes.sh FILES
# FILES has kernel.elf and other.elf, the bundled kernel in two builds, and where that case is to be
# tried: linux.iso, a disc from which GRUB starts Debian's Linux; machine-mode.elf, a kernel for
# qemu-system-riscv64 -M virt -bios none.
# Exit status: 0 good, 1 not.
set -uo pipefail
files=$(cd "$1" && pwd)
work=$(mktemp -d)
qemu=
trap '[ -z "$qemu" ] || kill "$qemu" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1

say() { echo "first-minutes: $*"; }
failures=0
bad() {
  say "NOT GOOD: $1, in:"
  sed 's/^/    /'
  failures=$((failures + 1))
}

# shows NAME PATTERN FILE: FILE has a line that matches.
shows() {
  if grep -Eq -- "$2" "$3"; then say "good: $1"; else bad "$1: no '$2'" <"$3"; fi
}
# lines NAME COUNT PATTERN FILE: so many lines match.
lines() {
  local count
  count=$(grep -Ec -- "$3" "$4")
  if [ "$count" -eq "$2" ]; then say "good: $1"; else bad "$1: $count lines with '$3'" <"$4"; fi
}
# into FOLDER: an empty folder for the next case.
into() { mkdir "$work/$1" && cd "$work/$1" || exit 1; }
# ringside VERB …: both outputs in files named after the verb.
run() { timeout 900 ringside "$@" >"$1.out" 2>"$1.err" </dev/null || bad "ringside $*: $?" <"$1.err"; }

machine=(-accel tcg -m 128 -smp 2 -display none -no-reboot)
chains=("${machine[@]}" -serial stdio -append "workload=chains seconds=0")
readonly hot="^ +[1-9][0-9]\.[0-9]+% .* checksum_page  \[kernel\]"

into wrapper
mkdir build && cp "$files/kernel.elf" build/
printf 'qemu:\n\tqemu-system-x86_64 %s -append "workload=chains seconds=0" -kernel build/kernel.elf\n' \
  "${machine[*]} -serial stdio" >Makefile
run record -F 500 --after "ringside-demo: ready" --duration 2 --then-quit make qemu
run report
shows "a guest that make starts: its functions have names" "$hot" report.out

into rebuilt
cp "$files/kernel.elf" .
run record -F 500 --after "ringside-demo: ready" --duration 2 --then-quit -- \
  qemu-system-x86_64 "${chains[@]}" -kernel kernel.elf
cp "$files/other.elf" kernel.elf
run report
shows "a kernel that was built again: the recording's names stand" "$hot" report.out
lines "and one line says so" 1 "is not the file that was recorded" report.err

into attached
qemu-system-x86_64 "${chains[@]}" -kernel "$files/kernel.elf" -s >serial 2>&1 </dev/null &
qemu=$!
for ((i = 0; i < 3000; ++i)); do grep -q "ringside-demo: ready" serial && break; sleep 0.1; done
run record --gdb 1234 -F 200 --duration 3
run report
lines "a guest with -s, and no file near: one line says what to give" 1 "--kernel" report.err
run report --kernel "$files/kernel.elf"
shows "and with the file the functions have names" "$hot" report.out
cp "$files/kernel.elf" .
run record --gdb 1234 -F 200 --duration 3
run report
shows "with its ELF file in the folder it has names at once" "$hot" report.out
kill "$qemu" && wait "$qemu" 2>/dev/null
qemu=

into processes
run record -F 500 --after "ringside-demo: ready" --duration 2 --then-quit -- \
  qemu-system-x86_64 "${machine[@]}" -serial stdio -kernel "$files/kernel.elf" \
  -append "workload=user seconds=0"
run report
shows "programs that nobody named are processes" "^ +[1-9].*(process|PID|<unknown>)" report.out
lines "and one line says what to give" 1 "--programs" report.err

if [ -e "$files/linux.iso" ]; then
  into disc
  run record --duration 25 --then-quit -- \
    qemu-system-x86_64 "${machine[@]}" -m 512 -serial null -cdrom "$files/linux.iso"
  run report
  shows "a Linux from a disc, and no file given: its functions have names" \
    "% .* kernel +kernel +[a-z_0-9]+$" report.out
  lines "and nothing is asked for" 0 "--kernel" report.err
fi

if [ -e "$files/machine-mode.elf" ]; then
  into machine
  run record -F 500 --duration 2 --then-quit -- qemu-system-riscv64 -M virt -bios none -accel tcg \
    -m 64 -display none -serial null -kernel "$files/machine-mode.elf"
  run report
  shows "a kernel in machine mode: its functions have names" \
    "^ +[1-9][0-9]\.[0-9]+% .* kernel +[a-z_]+  \[kernel\]" report.out
fi

[ $failures -eq 0 ] || { say "$failures are not good"; exit 1; }
say "all are good"
