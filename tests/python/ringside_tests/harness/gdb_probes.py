"""Runs inside gdb, for gdb_backtrace_test.py: for each line on stdin prints the stacks of all vCPUs as one JSON line.

A frame is [pc, kind]. Left out is what has no frame in memory: inlined functions, and functions that gdb concludes to
have ended in a jump to the next one (DW_TAG_call_site).
"""
import json
import os
import sys

import gdb

MOST_FRAMES = 200
OUT = os.fdopen(int(os.environ["GDB_PROBES_FD"]), "w")


def stack_of():
    frames, frame, mask = [], gdb.newest_frame(), (1 << 64) - 1
    end = "too deep"
    for _ in range(MOST_FRAMES):
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            kind = "signal" if frame.type() == gdb.SIGTRAMP_FRAME else "normal"
            frames.append([frame.pc() & mask, kind])
        try:
            older = frame.older()
        except gdb.error as error:
            end = str(error)
            break
        if older is None:
            end = gdb.frame_stop_reason_string(frame.unwind_stop_reason())
            break
        frame = older
    return {"frames": frames, "end": end}


def probe():
    gdb.execute("maintenance flush register-cache", to_string=True)
    gdb.execute("maintenance flush dcache", to_string=True)
    stacks = {}
    for thread in gdb.selected_inferior().threads():
        try:
            thread.switch()
            stacks[thread.ptid[1] - 1] = stack_of()
        except gdb.error as error:
            stacks[thread.ptid[1] - 1] = {"frames": [], "end": str(error)}
    return stacks


for line in sys.stdin:
    if line.strip() != "probe":
        break
    OUT.write(json.dumps(probe()) + "\n")
    OUT.flush()
