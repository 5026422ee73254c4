//! What the render world tells the main world, whose next frame may have begun.

use bevy::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Messages on their way. Both worlds have a clone.
#[derive(Resource)]
pub struct Mailbox<T: Send + 'static>(Arc<Mutex<Vec<T>>>);

impl<T: Send> Clone for Mailbox<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Send> Default for Mailbox<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T: Send> Mailbox<T> {
    /// Adds a message.
    pub fn push(&self, message: T) {
        lock(&self.0).push(message);
    }

    /// Adds messages.
    pub fn extend(&self, messages: impl Iterator<Item = T>) {
        lock(&self.0).extend(messages);
    }

    /// Drops all messages, and adds others.
    pub fn replace(&self, messages: impl IntoIterator<Item = T>) {
        let mut all = lock(&self.0);
        all.clear();
        all.extend(messages);
    }

    /// Moves all messages to the end of a list. Both lists keep their memory.
    pub fn take(&self, list: &mut Vec<T>) {
        list.append(&mut lock(&self.0));
    }

    /// All messages, which stay.
    pub fn read(&self) -> Vec<T>
    where
        T: Clone,
    {
        lock(&self.0).clone()
    }
}

/// Locks a value that is whole after every step, so that poisoning means nothing.
pub fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
