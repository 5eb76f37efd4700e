//! Sessions that somebody looks at.
//!
//! A [`LiveSession`] is a thread that reads the log, and the [`Document`] that it makes. It begins when somebody
//! asks for the session, and ends some time after nobody does. Each has an epoch, a random name: numbers of
//! changes mean something within it only.
//!
//! A session is always read from the beginning of its log, after a restart too, and from the database where the
//! log is gone. So every call that is open is known here, and no `CorrIdResolver` is asked: one would only be
//! needed to go on in the middle, from what the database has. That is not the whole of it: the growth of a message
//! that is still coming is not stored.

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
