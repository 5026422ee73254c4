//! Finds the lines of the crate that allocate memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::ffi::c_void;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of stack frames to examine, from the innermost on.
const DEPTH: usize = 48;

type Stack = [usize; DEPTH];

/// The system's allocator, watched.
struct Watched;

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// Whether allocations are counted now.
static IS_COUNTING: AtomicBool = AtomicBool::new(false);

/// The stacks of allocations, with their counts.
static FOUND: Mutex<Vec<Stack>> = Mutex::new(Vec::new());

thread_local! {
    /// Whether this thread is examining an allocation. The allocations of the examination do not count.
    static IS_LOOKING: Cell<bool> = const { Cell::new(false) };
}

// SAFETY: the system's allocator does all the work.
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

/// The lines of the crate that have allocated since the last call, with their counts.
pub fn take() -> BTreeMap<String, usize> {
    let stacks = FOUND
        .lock()
        .map(|mut found| core::mem::take(&mut *found))
        .unwrap_or_default();
    let mut counted: HashMap<Stack, usize> = HashMap::new();
    for stack in stacks {
        *counted.entry(stack).or_default() += 1;
    }
    let mut lines = HashMap::new();
    let mut places = BTreeMap::new();
    for (stack, count) in counted {
        if let Some(place) = place(&stack, &mut lines) {
            *places.entry(place).or_default() += count;
        }
    }
    places
}

fn look() {
    if !IS_COUNTING.load(Ordering::Relaxed) || IS_LOOKING.try_with(|it| it.replace(true)).unwrap_or(true) {
        return;
    }
    let mut stack = [0; DEPTH];
    let mut depth = 0;
    backtrace::trace(|frame| {
        stack[depth] = frame.ip() as usize;
        depth += 1;
        depth < DEPTH
    });
    if let Ok(mut found) = FOUND.lock() {
        found.push(stack);
    }
    let _ = IS_LOOKING.try_with(|it| it.set(false));
}

/// The innermost line of the crate on a stack, unless it has called the graphics library.
fn place(stack: &Stack, lines: &mut HashMap<usize, Vec<String>>) -> Option<String> {
    let crate_files = concat!(env!("CARGO_MANIFEST_DIR"), "/src/");
    let lines = stack.iter().filter(|ip| **ip != 0).flat_map(|ip| {
        let lines = lines.entry(*ip).or_insert_with(|| lines_at(*ip));
        lines.clone()
    });
    let is_known = |line: &String| line.starts_with(crate_files) || line.contains("wgpu");
    let found = lines.into_iter().find(is_known)?;
    found.strip_prefix(crate_files).map(str::to_owned)
}

/// The source lines of an address, inlined functions first. For a library without line tables, the names of its functions.
fn lines_at(ip: usize) -> Vec<String> {
    let mut lines = Vec::new();
    // A stack holds return addresses, which may belong to the next source line.
    backtrace::resolve(ip.saturating_sub(1) as *mut c_void, |symbol| {
        if let (Some(file), Some(line)) = (symbol.filename(), symbol.lineno()) {
            lines.push(format!("{}:{line}", file.display()));
        } else if let Some(name) = symbol.name() {
            lines.push(name.to_string());
        }
    });
    lines
}
