# Entry code in the manner of Linux 6.1 (arch/x86/entry/entry_64.S, calling.h, lib/retpoline.S), for
# x86_64_entries_test.cpp. Labels of the test's own begin with "at_".
.text
.macro function name
  .p2align 4
  .globl \name
  .type \name, @function
\name:
.endm
.macro place name
  .globl at_\name
at_\name:
.endm

.globl _start
_start: nop

function error_entry
  pushq %rsi
place return_address_in_its_slot
  movq 8(%rsp), %rsi
  movq %rdi, 8(%rsp)
place return_address_in_rsi
  pushq %rdx
  pushq %r8
place two_more_are_pushed
  pushq %r15
  pushq %rsi
place all_is_pushed
  xorl %esi, %esi
  testb $3, 0x90(%rsp)
  ret
.size error_entry, . - error_entry

function asm_exc_page_fault
  nop
place before_the_saver
  call error_entry
place behind_the_saver
  movq %rax, %rsp
  call _start
place behind_the_handler
  jmp error_return
.size asm_exc_page_fault, . - asm_exc_page_fault

function irq_entries_start
  .byte 0x6a, 0x20
place behind_the_vector
  jmp asm_common_interrupt
  .fill 8 - (. - irq_entries_start), 1, 0xcc
place second_vector
  pushq $-0x11
  jmp asm_common_interrupt
.size irq_entries_start, . - irq_entries_start

function asm_common_interrupt
  clac
  cld
place vector_is_pushed
  call error_entry
  jmp error_return
.size asm_common_interrupt, . - asm_common_interrupt

function asm_sysvec_call_function
  endbr64
place hardware_has_pushed
  pushq $-1
place word_is_pushed
  call error_entry
  jmp error_return
.size asm_sysvec_call_function, . - asm_sysvec_call_function

function asm_exc_int3
  cld
  pushq $-1
  testb $3, 0x10(%rsp)
  jnz 1f
  pushq 0x28(%rsp)
place one_word_copied
  .rept 5
  pushq 0x28(%rsp)
  .endr
1:
place frame_copied
  call error_entry
  jmp error_return
.size asm_exc_int3, . - asm_exc_int3

function paranoid_entry
  pushq %rsi
  ret
.size paranoid_entry, . - paranoid_entry
function asm_exc_debug
  pushq $-1
  testb $3, 0x10(%rsp)
  jnz 1f
  call paranoid_entry
place behind_the_paranoid
  call _start
  jmp error_return
1:
place the_other_saver
  call error_entry
place behind_the_other_saver
  jmp error_return
.size asm_exc_debug, . - asm_exc_debug

function asm_exc_nmi
  cld
place unknown_entry
  pushq %rdx
  iretq
.size asm_exc_nmi, . - asm_exc_nmi

function common_interrupt_return
.globl swapgs_restore_regs_and_return_to_usermode
.type swapgs_restore_regs_and_return_to_usermode, @function
swapgs_restore_regs_and_return_to_usermode:
  popq %r15
  movq %gs:0x6004, %rsp
place on_the_entry_stack
  pushq 0x30(%rdi)
.size common_interrupt_return, . - common_interrupt_return
function restore_regs_and_return_to_kernel
  popq %r15
error_return:
  iretq
.size restore_regs_and_return_to_kernel, . - restore_regs_and_return_to_kernel

function __switch_to_asm
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, 0x10(%rdi)
place before_the_filling
  jmp 1f
place in_the_filling
  .fill 30, 1, 0x90
1:
place behind_the_filling
  popq %r15
  ret
.size __switch_to_asm, . - __switch_to_asm

function entry_SYSCALL_64
  swapgs
.globl entry_SYSCALL_64_after_hwframe
entry_SYSCALL_64_after_hwframe:
  call _start
place behind_the_system_call
  swapgs
.size entry_SYSCALL_64, . - entry_SYSCALL_64

function ret_from_fork
  call _start
.size ret_from_fork, . - ret_from_fork

function __x86_indirect_thunk_array
.globl __x86_indirect_thunk_rax
.type __x86_indirect_thunk_rax, @function
__x86_indirect_thunk_rax:
  call 2f
  int3
2:
place in_the_retpoline
  movq %rax, (%rsp)
  ret
.size __x86_indirect_thunk_rax, . - __x86_indirect_thunk_rax
.size __x86_indirect_thunk_array, . - __x86_indirect_thunk_array
function __x86_indirect_its_thunk_rcx
  jmp *%rcx
.size __x86_indirect_its_thunk_rcx, . - __x86_indirect_its_thunk_rcx
