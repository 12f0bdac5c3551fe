"""Runs inside gdb: prints stacks as addresses, for gdb_backtrace_check.py. One line a thread, leaf first:
`stack ADDRESS …`; a caller's address is its return address minus one."""
import gdb

USER_END = 1 << 47


def addresses(frame) -> list[int]:
    """The interrupted ring 3 is not part of the kernel's stack."""
    found = []
    exact = True  # nothing calls the leaf or interrupted code; their pc is where they are
    while frame is not None and frame.pc() & (1 << 64) - 1 >= USER_END:
        if frame.type() != gdb.INLINE_FRAME:
            found.append((frame.pc() & (1 << 64) - 1) - (0 if exact else 1))
            exact = frame.type() == gdb.SIGTRAMP_FRAME
        frame = frame.older()
    return found


def print_stack() -> None:
    gdb.execute("maintenance flush register-cache", to_string=True)
    print("stack " + " ".join(f"{address:x}" for address in addresses(gdb.newest_frame())))


def print_all_stacks() -> None:
    for thread in sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num):
        thread.switch()
        print_stack()


def returns_in(function: str) -> list[int]:
    """Where calls in `function` return to."""
    block = gdb.execute(f"disassemble {function}", to_string=True).splitlines()
    lines = [line.replace("=>", "  ").split() for line in block if "<+" in line]
    return [int(after[0], 16) for call, after in zip(lines, lines[1:]) if call[2] == "call"]


def print_steps(function: str, count: int, stops: int | None = None) -> None:
    """Stops where `function` begins and where its calls return to, in the order in which that happens, each time for
    `count` instructions, interrupts included; `stops` times, or as often as there are such places."""
    gdb.execute("maintenance packet Qqemu.sstep=0x1", to_string=True)  # 1: single step; without 2 and 4 timers run
    starts = {gdb.Breakpoint(f"*{function}", internal=True)}
    starts |= {gdb.Breakpoint(f"*{address:#x}", internal=True) for address in returns_in(function)}
    for _ in range(stops or len(starts)):
        gdb.execute("continue", to_string=True)
        for _ in range(count):
            print_stack()
            gdb.execute("stepi", to_string=True)
