//! The messages that apps have logged.

use bevy::log::BoxedLayer;
use bevy::log::tracing::field::{Field, Visit};
use bevy::log::tracing::{Event, Subscriber};
use bevy::log::tracing_subscriber::Layer;
use bevy::log::tracing_subscriber::layer::Context;
use bevy::prelude::App;
use std::fmt;
use std::sync::{Mutex, PoisonError};

static MESSAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The number of warnings and errors of the whole process that contain `text`. Tests run in parallel: use a unique name.
pub fn count(text: &str) -> usize {
    let messages = MESSAGES.lock().unwrap_or_else(PoisonError::into_inner);
    messages.iter().filter(|message| message.contains(text)).count()
}

/// All warnings and errors of the whole process that contain `text`, in order.
pub fn all(text: &str) -> Vec<String> {
    let messages = MESSAGES.lock().unwrap_or_else(PoisonError::into_inner);
    messages
        .iter()
        .filter(|message| message.contains(text))
        .cloned()
        .collect()
}

/// Keeps every message.
pub fn layer(_: &mut App) -> Option<BoxedLayer> {
    Some(Box::new(Keeper))
}

struct Keeper;

impl<S: Subscriber> Layer<S> for Keeper {
    fn on_event(&self, event: &Event, _: Context<S>) {
        let mut message = Message::default();
        event.record(&mut message);
        let mut messages = MESSAGES.lock().unwrap_or_else(PoisonError::into_inner);
        messages.push(message.0);
    }
}

#[derive(Default)]
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}
