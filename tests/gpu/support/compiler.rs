//! Tasks that fill the thread pool that compiles pipelines, as the tasks of a game may, behind a loading screen for example.

use bevy::tasks::AsyncComputeTaskPool;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The tasks end after this time, so that a test whose app waits for them goes on and fails. On a busy machine, some frames may take
/// half a minute.
const LONGEST: Duration = Duration::from_secs(120);

/// While this exists, every thread of the pool is busy, and no pipeline compiles in the background.
pub struct HeldCompiler(Arc<Gate>);

#[derive(Default)]
struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: usize,
    is_open: bool,
    is_late: bool,
}

impl HeldCompiler {
    /// Waits until every thread of the pool is busy.
    pub fn new() -> Self {
        let gate = Arc::<Gate>::default();
        let pool = AsyncComputeTaskPool::get();
        for _ in 0..pool.thread_num() {
            let gate = gate.clone();
            pool.spawn(async move { gate.wait() }).detach();
        }
        let mut state = gate.lock();
        while state.waiting < pool.thread_num() {
            state = gate.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        Self(gate)
    }

    /// Lets pipelines compile. Panics if the app has waited for that.
    pub fn release(self) {
        assert!(!self.0.lock().is_late, "the app has waited for the tasks of the game");
    }
}

impl Drop for HeldCompiler {
    fn drop(&mut self) {
        self.0.lock().is_open = true;
        self.0.changed.notify_all();
    }
}

impl Gate {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The task: blocks its thread until the gate is open.
    fn wait(&self) {
        let start = Instant::now();
        let mut state = self.lock();
        state.waiting += 1;
        self.changed.notify_all();
        while !state.is_open {
            let left = LONGEST.saturating_sub(start.elapsed());
            if left.is_zero() {
                state.is_late = true;
                return;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
