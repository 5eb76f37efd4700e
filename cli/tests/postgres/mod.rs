//! PostgreSQL as the store: the same rows, the same answers, the same rules of a ledger as with SQLite.

mod answers;
mod dashboard;
pub(crate) mod program;
mod removal;
mod server;

use foldline::ledger::{Ledger, Mark, SourceName};
use foldline_database::{
    Rows,
    postgres::{Postgres, PostgresError},
};
use foldline_domain::{
    DomainEvent, Located, NormalizedEntry, NormalizedEntryType, Position, Session,
};
use foldline_testkit::ledger::{self, Engine};
use postgres::{Client, NoTls};
use proptest::prelude::*;

use self::server::Server;

struct PostgresEngine {
    address: String,
}

impl PostgresEngine {
    fn new() -> Self {
        Self { address: Server::get().database() }
    }
}

impl Engine for PostgresEngine {
    type Ledger = Postgres;

    fn open(&self) -> Postgres {
        Postgres::open(&self.address).unwrap()
    }

    /// Each item is an entry of the source's only session.
    fn output(&self, source: &SourceName, items: &[String]) -> Rows {
        let position = Position::default();
        let session = Session { session_id: Some(source.as_str().into()), ..Session::default() };
        let session = Located::new(position, DomainEvent::Session(Box::new(session)));
        let entries = items.iter().map(|item| {
            let entry = NormalizedEntry::new(NormalizedEntryType::UserMessage, item.as_str());
            Located::new(position, DomainEvent::entry(entry))
        });
        [session].into_iter().chain(entries).collect::<Vec<_>>().iter().collect()
    }

    fn committed(&self, _ledger: &mut Postgres) -> Vec<String> {
        let mut client = Client::connect(&self.address, NoTls).unwrap();
        let rows = client.query("SELECT content FROM foldline.entries ORDER BY id", &[]).unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// The connection is lost within a transaction.
    fn interrupt(&self) {
        let mut ledger = self.open();
        assert_eq!(ledger.begin_after(&[]).unwrap(), None);
    }
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn it_passes_the_suite_of_ledgers() {
    ledger::check(PostgresEngine::new).unwrap_or_else(|violation| panic!("{violation}"));
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn only_one_of_two_writers_goes_on() {
    ledger::exclusive(PostgresEngine::new).unwrap_or_else(|violation| panic!("{violation}"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    #[cfg_attr(not(has_postgres), ignore = "needs postgres")]
    fn it_holds_what_the_model_holds(operations in ledger::operations()) {
        ledger::model(PostgresEngine::new, &operations)?;
    }
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn a_commit_begins_only_after_the_expected_marks() {
    let address = Server::get().database();
    let (mut one, mut other) =
        (Postgres::open(&address).unwrap(), Postgres::open(&address).unwrap());
    let mark =
        |state: &str| Mark { name: "offset".into(), state: serde_json::from_str(state).unwrap() };
    assert_eq!(one.begin_after(&[mark("null")]).unwrap(), None);
    one.commit(&[], &[mark("1")]).unwrap();
    assert_eq!(other.begin_after(&[mark("null")]).unwrap(), Some(mark("1")));
    assert_eq!(other.begin_after(&[mark("1")]).unwrap(), None);
    other.commit(&[], &[mark("2")]).unwrap();
    assert_eq!(one.begin_after(&[mark("1")]).unwrap(), Some(mark("2")));
    assert_eq!(one.mark("offset").unwrap(), Some(mark("2").state));
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn errors_say_what_failed_without_the_password() {
    let address = Server::get().database();
    let older = Postgres::open_read_only(&address).unwrap_err();
    assert!(matches!(older, PostgresError::Older { found: 0, .. }), "{older}");
    drop(Postgres::open(&address).unwrap());
    drop(Postgres::open_read_only(&address).unwrap());
    let mut client = Client::connect(&address, NoTls).unwrap();
    client.batch_execute("UPDATE foldline.schema_version SET version = 99").unwrap();
    let newer = Postgres::open(&address).unwrap_err();
    assert!(matches!(newer, PostgresError::Newer { found: 99, .. }), "{newer}");
    let unreachable = Postgres::open("postgresql://jo:secret@127.0.0.1:1/x").unwrap_err();
    assert!(
        unreachable.is_transient() && !unreachable.to_string().contains("secret"),
        "{unreachable}"
    );
    let missing = Postgres::open(&address.replace("/test_", "/nothing_")).unwrap_err();
    assert!(matches!(missing, PostgresError::Rejected { .. }), "{missing}");
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs postgres")]
fn a_lost_connection_is_transient_and_nothing_of_its_transaction_stays() {
    let address = Server::get().database();
    let mut ledger = Postgres::open(&address).unwrap();
    let mark = |state: &str| Mark { name: "m".into(), state: serde_json::from_str(state).unwrap() };
    assert_eq!(ledger.begin_after(&[]).unwrap(), None);
    Server::disconnect(&address);
    let lost = ledger.commit(&[], &[mark("1")]).unwrap_err();
    let foldline::ledger::CommitError::Failed(lost) = lost else { panic!("{lost}") };
    assert!(lost.is_transient(), "{lost}");
    ledger.reconnect().unwrap();
    assert_eq!(ledger.mark("m").unwrap(), None);
    ledger.commit(&[], &[mark("1")]).unwrap();
    assert_eq!(ledger.mark("m").unwrap(), Some(mark("1").state));
}
