//! A PostgreSQL database of sessions, entries, tool calls and costs, with full-text search: the store of a team.
//!
//! [`Postgres`] is a [`Ledger`](foldline::ledger::Ledger) and a [`Store`], like the SQLite
//! [`Database`](super::sqlite::Database): a source's position and the state of its reducer are committed in the
//! transaction of its rows, and the same queries answer from the same tables, which are in the schema `foldline`. Several
//! programs may write at the same time, each its own sources; [`begin_after`](Postgres::begin_after) is the fence between
//! two that write the same ones.

mod address;
mod error;
mod ledger;
mod prices;
mod removal;
pub mod schema;
mod statements;
mod store;
mod texts;
mod writer;

use std::{
    cell::{RefCell, RefMut},
    fmt,
    ops::Deref,
    sync::Arc,
};

use foldline_domain::pricing::Prices;

pub use self::error::PostgresError;
use self::{address::Address, error::PostgresFailure, statements::Connection};
use crate::Store;

/// What every connection sets. The server would compile many of the queries first, which takes seconds where the answer
/// takes a fraction of one.
const SETTINGS: &str = "SET search_path = foldline; SET jit = off";

/// An open PostgreSQL database.
pub struct Postgres {
    address: Address,
    session: RefCell<Connection>,
    prices: RefCell<Option<Arc<Prices>>>,
    /// Whether the transaction of the next commit has begun.
    has_begun: bool,
}

impl Postgres {
    /// Opens the database at `postgresql://USER:PASSWORD@HOST/NAME` for writing; makes missing tables, and migrates old
    /// ones.
    ///
    /// A connection to another machine is encrypted, and the certificate of the server is verified (`sslrootcert=FILE`
    /// names its authority), unless the address says `sslmode=disable`. The password may be in the environment, as
    /// `PGPASSWORD`.
    ///
    /// # Errors
    /// The address is wrong, the server cannot be reached or rejects the user, or a later version made the tables.
    pub fn open(address: &str) -> Result<Self, PostgresError> {
        let address = Address::parse(address)?;
        let mut client = address.connect()?;
        schema::migrate(&mut client, &address.name)?;
        // A commit is durable when it returns, whatever the default of the server.
        Self::with(address, client, "SET synchronous_commit = on")
    }

    /// Opens the database for reading.
    ///
    /// # Errors
    /// As [`open`](Self::open), or its tables are missing or of an earlier version.
    pub fn open_read_only(address: &str) -> Result<Self, PostgresError> {
        let address = Address::parse(address)?;
        let mut client = address.connect()?;
        let name = || address.name.clone();
        let found = schema::version(&mut client).map_err(|error| error.of(&address.name))?;
        let known = schema::known();
        match found {
            _ if found < known => return Err(PostgresError::Older { name: name(), found }),
            _ if found > known => return Err(PostgresError::Newer { name: name(), found, known }),
            _ => {}
        }
        Self::with(address, client, "SET default_transaction_read_only = on")
    }

    fn with(
        address: Address,
        mut client: postgres::Client,
        setting: &str,
    ) -> Result<Self, PostgresError> {
        client
            .batch_execute(&format!("{SETTINGS}; {setting}"))
            .map_err(|error| PostgresFailure::from(error).of(&address.name))?;
        let session = RefCell::new(Connection::new(client));
        Ok(Self { address, session, prices: RefCell::default(), has_begun: false })
    }

    /// Connects again, after the connection was lost.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn reconnect(&mut self) -> Result<(), PostgresError> {
        let mut client = self.address.connect()?;
        let set = client.batch_execute(&format!("{SETTINGS}; SET synchronous_commit = on"));
        set.map_err(|error| PostgresFailure::from(error).of(&self.address.name))?;
        *self.session.borrow_mut() = Connection::new(client);
        self.has_begun = false;
        Ok(())
    }

    fn session(&self) -> RefMut<'_, Connection> {
        self.session.borrow_mut()
    }

    fn batch(&self, sql: &str) -> Result<(), PostgresError> {
        let done = self.session().client.batch_execute(sql);
        done.map_err(|error| PostgresFailure::from(error).of(&self.address.name))
    }
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postgres").field("name", &self.address.name).finish_non_exhaustive()
    }
}

/// A database is a store: the queries are methods of `dyn Store`.
impl Deref for Postgres {
    type Target = dyn Store;

    fn deref(&self) -> &Self::Target {
        self
    }
}
