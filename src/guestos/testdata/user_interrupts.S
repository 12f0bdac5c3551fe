// Entries of an x86_64 kernel as small kernels have them: a stub for each vector that pushes its
// number, and code that all share. JUMPS, FALLS, PUSHES: a system call goes there, too; the last one
// with other words. ANYWHERE: an exception goes on at any address. RETURNS: one returns into an
// interrupt's code. COUNTS: the table is not first in its object.
    .macro stub vector
    .globl stub_\vector
stub_\vector:
    .if \vector <> 14
    push $0
    .endif
    push $\vector
    jmp all_traps
    .endm

    .text
    .globl _start, all_traps, after_call, own_entry, own_after_call, handler, system_entry, system_after_call
_start:
    hlt
    stub 0
    stub 14
    stub 21                             // as if without an error code
    stub 32
    stub 33
    stub 128
    stub 34                             // no gate leads there
#ifdef FALLS
early_system_entry:
    push $0
    push $32
#endif
all_traps:
    push %rax
    mov %rsp, %rdi
    call handler
after_call:
    pop %rax
    add $16, %rsp
    iretq
own_entry:
    push %rax
1:  call handler
own_after_call:
    pop %rax
    iretq
    .globl fault
fault:
#ifdef ANYWHERE
    jmp *%rax
#endif
#ifdef RETURNS
    push $1b
    jmp handler
#endif
    iretq
handler:
    ret
system_entry:
    push $0
    push $32
    push %rax
    call handler
system_after_call:
    pop %rax
    add $16, %rsp
    sysretq
jumping_system_entry:
    mov %rsp, %gs:0
#ifdef JUMPS
    push %rcx
    push $0
    push $32
    jmp all_traps
#endif
#ifdef PUSHES
    push %rcx
    push %rax
    push $32
    jmp all_traps
#endif
    ret

    .bss
    .globl idt
    .p2align 4
idt:
    .skip 4096
#ifdef COUNTS
    .skip 64
    .size idt, 4160
#else
    .size idt, 4096
#endif
    .type idt, @object
    .globl end
end:
    .skip 16
