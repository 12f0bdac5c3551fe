// Entries of an x86_64 kernel as small kernels have them: a stub for each vector that pushes its
// number, and code that all share. JUMPS, FALLS: a system call goes there, too.
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
    stub 14
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
    call handler
own_after_call:
    pop %rax
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
#ifdef JUMPS
    push $0
    push $32
    jmp all_traps
#endif
    sysretq

    .bss
    .globl idt
    .p2align 4
idt:
    .skip 4096
    .size idt, 4096
    .type idt, @object
    .globl end
end:
    .skip 16
