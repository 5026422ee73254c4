//! Finds out where memory is taken.

use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The system's allocator, watched.
struct Watched;

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// Whether allocations are counted now.
static IS_COUNTING: AtomicBool = AtomicBool::new(false);

/// The allocations of each function of the crate.
static FOUND: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// Whether this thread is looking at an allocation: what that takes does not count.
    static IS_LOOKING: Cell<bool> = const { Cell::new(false) };
}

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        look();
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        look();
        // SAFETY: the caller keeps the contract.
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(old, layout) }
    }
}

/// Starts or stops counting.
pub fn count(counts: bool) {
    IS_COUNTING.store(counts, Ordering::SeqCst);
}

/// What has been found since the last call, by function.
pub fn take() -> BTreeMap<String, usize> {
    FOUND
        .lock()
        .map(|mut found| core::mem::take(&mut *found))
        .unwrap_or_default()
}

fn look() {
    if !IS_COUNTING.load(Ordering::Relaxed) || IS_LOOKING.try_with(|it| it.replace(true)).unwrap_or(true) {
        return;
    }
    if let (Some(place), Ok(mut found)) = (place(&Backtrace::force_capture().to_string()), FOUND.lock()) {
        *found.entry(place).or_default() += 1;
    }
    let _ = IS_LOOKING.try_with(|it| it.set(false));
}

/// The innermost function of the crate on the stack, unless it has called the graphics library.
fn place(stack: &str) -> Option<String> {
    let functions = stack.lines().filter_map(|line| {
        let (number, function) = line.trim().split_once(": ")?;
        number.parse::<u32>().ok().map(|_| function)
    });
    let mut inner = functions.map(|function| function.trim_start_matches(['<', '&']));
    let found = inner.find(|function| {
        ["bevy_gaussian_blur::", "wgpu"]
            .iter()
            .any(|it| function.starts_with(it))
    })?;
    found.starts_with("bevy_gaussian_blur::").then(|| found.to_owned())
}
