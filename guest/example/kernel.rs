//! What a kernel in Rust adds to sample itself by its timer and to trace its heap: the guest
//! library's functions, and the calls. Link `ringside_guest.c`, compiled for the kernel's target.
//! For Rust 1.82 and later, of edition 2021 or 2024.
#![no_std]

use core::ffi::{c_char, c_void, CStr};
use core::ptr;

/// The guest library, all of it, as `ringside_guest.h` has it.
pub mod ringside {
    use super::*;

    pub const MAX_FRAMES: usize = 128;
    pub const LEAF_WORDS: usize = 4;
    pub const MAX_INTERRUPTIONS: usize = 4;

    /// Modes of a ring.
    pub const OVERWRITE: u32 = 0;
    pub const DROP: u32 = 1;
    /// Sources of a sample.
    pub const TIMER: u32 = 0;
    pub const NMI: u32 = 1;
    pub const OTHER_SOURCE: u32 = 2;
    /// Operations and units of an allocation.
    pub const ALLOC: u32 = 0;
    pub const REALLOC: u32 = 1;
    pub const FREE: u32 = 2;
    pub const IN_BYTES: u32 = 0;
    pub const IN_PAGES: u32 = 1;
    pub const IN_OBJECTS: u32 = 2;

    #[repr(C)]
    pub struct Setup {
        pub memory: *mut c_void,
        pub bytes: usize,
        pub cpus: u32,
        pub ring_words: u32,
        pub mode: u32,
        pub clock: extern "C" fn() -> u64,
        pub clock_hz: u64,
        pub anchor: *const c_void,
        pub anchor_name: *const c_char,
    }

    #[repr(C)]
    pub struct Task {
        pub address_space: u64,
        pub pid: u32,
        pub tid: u32,
        pub name: *const c_char,
    }

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct Interruption {
        pub frame: u32,
        pub count: u32,
        pub sp: usize,
        pub fp: usize,
        pub words: [usize; LEAF_WORDS],
    }

    #[repr(C)]
    pub struct Stack {
        pub frames: *const usize,
        pub count: u32,
        pub stop: u32,
        pub interruption_count: u32,
        pub interruptions: [Interruption; MAX_INTERRUPTIONS],
    }

    #[repr(C)]
    pub struct Registers {
        pub pc: usize,
        pub sp: usize,
        pub fp: usize,
        pub lr: usize,
    }

    #[repr(C)]
    pub struct Allocation {
        pub operation: u32,
        pub unit: u32,
        pub allocator: *const c_char,
        pub pointer: u64,
        pub old: u64,
        pub size: u64,
    }

    #[repr(C)]
    pub struct Process {
        pub pid: u64,
        pub image_base: u64,
        pub image_bytes: u64,
        pub program_headers: u64,
        pub eh_frame: u64,
        pub eh_frame_bytes: u64,
        pub text: u64,
        pub text_bytes: u64,
    }

    pub type ReadWord = extern "C" fn(usize, *mut usize) -> i32;

    #[rustfmt::skip]
    unsafe extern "C" {
        pub fn ringside_bytes(cpus: u32, ring_words: u32) -> usize;
        pub fn ringside_start(setup: *const Setup) -> i32;
        pub fn ringside_switch(on: i32) -> i32;
        pub fn ringside_is_on() -> i32;
        pub fn ringside_walk(at: *const Registers, low: usize, high: usize,
                             read: Option<ReadWord>, frames: *mut usize) -> Stack;
        pub fn ringside_note_interruption(stack: *mut Stack, at: *const Registers, low: usize,
                                          high: usize, read: Option<ReadWord>);
        pub fn ringside_walk_callers(low: usize, high: usize, frames: *mut usize) -> Stack;
        pub fn ringside_sample(cpu: u32, source: u32, task: *const Task, kernel: *const Stack,
                               user: *const Stack);
        pub fn ringside_allocated(cpu: u32, what: *const Allocation, task: *const Task,
                                  stack: *const Stack);
        pub fn ringside_event(cpu: u32, name: *const c_char, numbers: *const i64, count: u32,
                              task: *const Task, stack: *const Stack);
        pub fn ringside_drain(cpu: u32, destination: *mut c_void, bytes: usize) -> usize;
        pub fn ringside_lost(cpu: u32) -> u64;
        pub fn ringside_describe_process(page: *mut c_void, process: *const Process);
    }
}

const CPUS: u32 = 4;
const RING_WORDS: u32 = 1 << 16;

/// Begins, and shows by its own address where the kernel was loaded. `memory` is the kernel's,
/// page-aligned, and never given back.
#[unsafe(no_mangle)]
pub fn start_sampling(
    memory: &'static mut [u8],
    clock: extern "C" fn() -> u64,
    clock_hz: u64,
) -> bool {
    let setup = ringside::Setup {
        memory: memory.as_mut_ptr().cast(),
        bytes: memory.len(), // ringside_bytes(CPUS, RING_WORDS) or more
        cpus: CPUS,
        ring_words: RING_WORDS,
        mode: ringside::OVERWRITE,
        clock,
        clock_hz,
        anchor: start_sampling as *const c_void,
        anchor_name: c"start_sampling".as_ptr(),
    };
    unsafe { ringside::ringside_start(&setup) == 0 }
}

/// Who runs on a CPU, and the bounds of the kernel's stack in use.
pub struct Running<'a> {
    pub cpu: u32,
    pub stack: core::ops::Range<usize>,
    pub pid: u32,
    pub tid: u32,
    pub page_table: u64,
    pub name: Option<&'a CStr>,
}

impl Running<'_> {
    fn task(&self) -> ringside::Task {
        ringside::Task {
            address_space: self.page_table,
            pid: self.pid,
            tid: self.tid,
            name: self.name.map_or(ptr::null(), CStr::as_ptr),
        }
    }
}

/// In the timer's handler, where kernel code was interrupted.
pub fn sample_kernel(running: &Running, at: &ringside::Registers) {
    let mut frames = [0usize; ringside::MAX_FRAMES];
    let (low, high) = (running.stack.start, running.stack.end);
    unsafe {
        let kernel = ringside::ringside_walk(at, low, high, None, frames.as_mut_ptr());
        ringside::ringside_sample(
            running.cpu,
            ringside::TIMER,
            &running.task(),
            &kernel,
            ptr::null(),
        );
    }
}

/// In the timer's handler, where user code was interrupted. `read` reads a word of the process's
/// memory. It returns 0 where it cannot, and does not fault.
pub fn sample_user(running: &Running, at: &ringside::Registers, read: ringside::ReadWord) {
    let mut frames = [0usize; ringside::MAX_FRAMES];
    unsafe {
        let user =
            ringside::ringside_walk(at, 4096, usize::MAX / 2, Some(read), frames.as_mut_ptr());
        ringside::ringside_sample(
            running.cpu,
            ringside::TIMER,
            &running.task(),
            ptr::null(),
            &user,
        );
    }
}

/// In the timer's handler, where the CPU was idle.
pub fn sample_idle(cpu: u32) {
    unsafe {
        ringside::ringside_sample(cpu, ringside::TIMER, ptr::null(), ptr::null(), ptr::null())
    };
}

/// In the allocator: after an allocation or a move, and before a free. The allocator is the
/// innermost function of the stack, so nothing inlines this one into it.
#[inline(never)]
pub fn note_allocation(running: &Running, what: &ringside::Allocation) {
    let mut frames = [0usize; ringside::MAX_FRAMES];
    let (low, high) = (running.stack.start, running.stack.end);
    unsafe {
        let stack = ringside::ringside_walk_callers(low, high, frames.as_mut_ptr());
        ringside::ringside_allocated(running.cpu, what, &running.task(), &stack);
    }
}
