"""An ELF core file out of a case, so that a debugger sees the same stopped state that ringside unwound."""
import struct

PT_LOAD, PT_NOTE, NT_PRSTATUS = 1, 4, 1
MACHINE = {"x86_64": 62, "i386": 3, "aarch64": 183, "riscv64": 243}

# The order of the registers in struct elf_prstatus's pr_reg, its offset there and the structure's size: Linux,
# arch/*/include/asm/elf.h and uapi/asm/ptrace.h (user_regs_struct), include/linux/elfcore.h.
X86_64 = ("r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base gs_base "
          "ds es fs gs").split()
I386 = "ebx ecx edx esi edi ebp eax ds es fs gs orig_eax eip cs eflags esp ss".split()
AARCH64 = [f"x{n}" for n in range(31)] + ["sp", "pc", "cpsr"]
RISCV64 = ("pc ra sp gp tp t0 t1 t2 fp s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 "
           "t6").split()
PRSTATUS = {"x86_64": (X86_64, 8, 112, 336), "i386": (I386, 4, 72, 144), "aarch64": (AARCH64, 8, 112, 392),
            "riscv64": (RISCV64, 8, 112, 376)}


def prstatus(arch, registers):
    order, size, offset, total = PRSTATUS[arch]
    data = bytearray(total)
    struct.pack_into("<I", data, 24 if size == 4 else 32, 1)  # pr_pid
    mask = (1 << 8 * size) - 1
    for i, name in enumerate(order):
        value = registers.get(name, 0) & mask
        data[offset + i * size:offset + (i + 1) * size] = value.to_bytes(size, "little")
    return bytes(data)


def core_file(arch, registers, pieces):
    """The file's bytes. registers: by name; pieces: (address, bytes)."""
    is_64 = arch != "i386"
    status = prstatus(arch, registers)
    note = struct.pack("<III", 5, len(status), NT_PRSTATUS) + b"CORE\0\0\0\0" + status
    note += bytes(-len(note) % 4)
    header_size, entry_size = (64, 56) if is_64 else (52, 32)
    offset = header_size + entry_size * (1 + len(pieces))

    def program_header(kind, at, address, size):
        if is_64:
            return struct.pack("<IIQQQQQQ", kind, 6, at, address, 0, size, size, 1)
        return struct.pack("<IIIIIIII", kind, at, address, 0, size, size, 6, 1)

    headers = program_header(PT_NOTE, offset, 0, len(note))
    body = note
    for address, data in pieces:
        headers += program_header(PT_LOAD, offset + len(body), address, len(data))
        body += data
    ident = b"\x7fELF" + bytes([2 if is_64 else 1, 1, 1]) + bytes(9)
    fields = (4, MACHINE[arch], 1, 0, header_size, 0, 0, header_size, entry_size, 1 + len(pieces), 0, 0, 0)
    header = ident + struct.pack("<HHIQQQIHHHHHH" if is_64 else "<HHIIIIIHHHHHH", *fields)
    return header + headers + body
