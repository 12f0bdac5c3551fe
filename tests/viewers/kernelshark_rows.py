#!/usr/bin/env python3
"""Prints the rows that KernelShark has of a trace, in its order, as its library loads them: a JSON array a line.

    kernelshark_rows.py FILE

A row is [time in nanoseconds, processor, thread, its name, "system/event", text]. The layout of an entry is that of
libkshark.h, KernelShark 2.2. A process of its own, for the library may crash.

Exit status: 0 done, 1 the library does not open the file, 2 wrong usage, 77 there is no library.
"""
import ctypes
import json
import sys

SKIPPED = 77


class Entry(ctypes.Structure):
    _fields_ = [("next", ctypes.c_void_p), ("visible", ctypes.c_uint16), ("stream", ctypes.c_int16), ("event", ctypes.c_int16),
                ("cpu", ctypes.c_int16), ("pid", ctypes.c_int32), ("offset", ctypes.c_int64), ("time", ctypes.c_int64)]


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    try:
        library = ctypes.CDLL("libkshark.so.2")
    except OSError:
        return SKIPPED
    library.kshark_load_entries.restype = ctypes.c_ssize_t
    library.kshark_instance.restype = ctypes.c_bool
    texts = [library.kshark_get_task, library.kshark_get_event_name, library.kshark_get_info]
    for text in texts:
        text.restype = ctypes.c_char_p
    session, rows = ctypes.c_void_p(), ctypes.POINTER(ctypes.POINTER(Entry))()
    if not library.kshark_instance(ctypes.byref(session)):
        return 1
    stream = library.kshark_open(session, sys.argv[1].encode())
    count = library.kshark_load_entries(session, stream, ctypes.byref(rows)) if stream >= 0 else -1
    for i in range(count):
        entry = rows[i].contents
        print(json.dumps([entry.time, entry.cpu, entry.pid, *(text(rows[i]).decode(errors="replace") for text in texts)]))
    return 0 if count >= 0 else 1


if __name__ == "__main__":
    sys.exit(main())
