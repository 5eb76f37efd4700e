//! Sessions that are open in a browser or a program.
//!
//! A [`LiveSession`] is a thread that reads the log, the [`MsgStore`](foldline::store::MsgStore) of which programs get
//! patches, and the [`Document`](document::Document) of which browsers get the page. It begins with the first request
//! for the session, and ends some time after the last one. Each has an epoch, a random name: numbers of changes mean
//! something within it only.
//!
//! A session is read from the beginning of its log, after a restart too: the page needs each event, and the growth of a
//! message is not stored. A session whose log is gone, or on another machine, is a document in the database. The store
//! continues it while another program adds to it, and resolves calls that were opened before.

mod document;
mod reading;
mod session;
mod sessions;
mod timeline;

pub(super) use self::{
    document::Shown,
    session::LiveSession,
    sessions::LiveSessions,
    timeline::{Mark, Moment, Step, Timeline},
};
