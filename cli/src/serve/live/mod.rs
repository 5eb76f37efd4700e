//! Sessions that somebody looks at.
//!
//! A [`LiveSession`] is a thread that reads the log, and the [`Document`] that it makes. It begins when somebody
//! asks for the session, and ends some time after nobody does. Each has an epoch, a random name: numbers of
//! changes mean something within it only.

mod document;
mod feed;
mod reading;
mod session;
mod sessions;
mod timeline;

pub(super) use self::{
    document::Document,
    feed::Feed,
    session::{LiveSession, Viewer},
    sessions::LiveSessions,
    timeline::{Mark, Moment, Step, Timeline},
};
