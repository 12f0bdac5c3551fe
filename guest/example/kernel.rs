//! What a kernel in Rust adds to sample itself by its timer: the guest library's functions that it
//! uses, and the calls. Link `ringside_guest.c`, compiled for the kernel's target.
#![no_std]

use core::ffi::{c_char, c_void};
use core::ptr;

/// The guest library, as `ringside_guest.h` has it.
mod ringside {
    use super::*;

    pub const MAX_FRAMES: usize = 128;
    pub const OVERWRITE: u32 = 0;
    pub const TIMER: u32 = 0;

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
    pub struct Interruption {
        pub frame: u32,
        pub count: u32,
        pub sp: usize,
        pub fp: usize,
        pub words: [usize; 4],
    }

    #[repr(C)]
    pub struct Stack {
        pub frames: *const usize,
        pub count: u32,
        pub stop: u32,
        pub interruption_count: u32,
        pub interruptions: [Interruption; 4],
    }

    #[repr(C)]
    pub struct Registers {
        pub pc: usize,
        pub sp: usize,
        pub fp: usize,
        pub lr: usize,
    }

    pub type ReadWord = extern "C" fn(usize, *mut usize) -> i32;

    extern "C" {
        pub fn ringside_bytes(cpus: u32, ring_words: u32) -> usize;
        pub fn ringside_start(setup: *const Setup) -> i32;
        pub fn ringside_walk(
            at: *const Registers,
            low: usize,
            high: usize,
            read: Option<ReadWord>,
            frames: *mut usize,
        ) -> Stack;
        pub fn ringside_sample(
            cpu: u32,
            source: u32,
            task: *const Task,
            kernel: *const Stack,
            user: *const Stack,
        );
    }
}

const CPUS: u32 = 4;
const RING_WORDS: u32 = 1 << 16;

/// Begins, and shows by its own address where the kernel was loaded. `memory` is the kernel's, page-aligned, and never given back.
#[no_mangle]
pub fn start_sampling(memory: &'static mut [u8], clock: extern "C" fn() -> u64, clock_hz: u64) -> bool {
    let needed = unsafe { ringside::ringside_bytes(CPUS, RING_WORDS) };
    if memory.len() < needed {
        return false;
    }
    let setup = ringside::Setup {
        memory: memory.as_mut_ptr().cast(),
        bytes: memory.len(),
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

/// What the kernel knows of the code that its timer has interrupted.
pub struct Interrupted<'a> {
    pub cpu: u32,
    pub pc: usize,
    pub sp: usize,
    pub fp: usize,
    pub lr: usize,
    pub stack: core::ops::Range<usize>,
    pub pid: u32,
    pub tid: u32,
    pub page_table: u64,
    pub name: &'a core::ffi::CStr,
}

/// In the timer's handler, where kernel code was interrupted.
pub fn sample(interrupted: &Interrupted) {
    let mut frames = [0usize; ringside::MAX_FRAMES];
    let task = ringside::Task {
        address_space: interrupted.page_table,
        pid: interrupted.pid,
        tid: interrupted.tid,
        name: interrupted.name.as_ptr(),
    };
    let at = ringside::Registers {
        pc: interrupted.pc,
        sp: interrupted.sp,
        fp: interrupted.fp,
        lr: interrupted.lr,
    };
    let stack = &interrupted.stack;
    unsafe {
        let kernel =
            ringside::ringside_walk(&at, stack.start, stack.end, None, frames.as_mut_ptr());
        ringside::ringside_sample(
            interrupted.cpu,
            ringside::TIMER,
            &task,
            &kernel,
            ptr::null(),
        );
    }
}
