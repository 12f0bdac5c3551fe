// Code that i386_entries_test.cpp looks for layouts in, after Linux' arch/x86/entry/entry_32.S.
.macro function name
.globl \name
.type \name, @function
\name:
.endm
.macro place name
.globl at_\name
at_\name:
.endm

.text
function _start
  ret
.size _start, . - _start

function syscall_exit_to_user_mode
  ret
.size syscall_exit_to_user_mode, . - syscall_exit_to_user_mode

function __switch_to_asm
  pushl %ebp
  pushl %ebx
  pushl %edi
  pushl %esi
  pushfl
  movl %esp, 0x89c(%eax)
place on_the_old_stack
  movl 0x89c(%edx), %esp
place on_the_new_stack
  movl 0x45c(%edx), %ebx
place before_the_filling
  jmp 1f
place in_the_filling
  .fill 192, 1, 0x90
1:
place behind_the_filling
  popfl
place behind_the_flags
  popl %esi
  popl %edi
place behind_edi
  popl %ebx
  popl %ebp
place behind_all_pops
  jmp _start
.size __switch_to_asm, . - __switch_to_asm

function ret_from_fork
  call _start
place behind_the_first_call
  testl %ebx, %ebx
  call syscall_exit_to_user_mode
place on_the_way_to_user
  jmp _start
place for_kernel_threads
  call _start
.size ret_from_fork, . - ret_from_fork

function handle_exception
  call _start
place behind_the_handler
  ret
.size handle_exception, . - handle_exception
.section .note.GNU-stack,"",@progbits
