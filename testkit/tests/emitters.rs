//! The laws for the emitters of the crate, on all possible events of executors and on several entries that grow at
//! once.

use std::fmt::Debug;

use foldline::{
    ledger::{Checkpoint, Commit, Ledger, SourceFacts, SourceName},
    transduce::{Emitter, KeyedEmitter},
};
use foldline_database::{
    RowChanges, RowEmitter, Rows,
    sqlite::{DEFAULT_WAIT, Database},
    usage::UsageEmitter,
};
use foldline_domain::{
    DomainEvent, Json, Located, Position, SessionKey,
    audit::AuditTrail,
    by_item,
    drift::SchemaDrift,
    metrics::Metrics,
    patch::{PatchEmitter, PatchStream},
    per_session,
};
use foldline_otlp::Otlp;
use foldline_render::{
    html::{HtmlEmitter, Page},
    markdown::Markdown,
    redact::Redact,
    transcript::{SessionTranscripts, Transcript, TranscriptStyle},
};
use foldline_tables::SessionRows;
use foldline_testkit::{generate, law};
use foldline_trajectory::Atif;
use proptest::prelude::*;

/// Enough cases for every special case in seconds; `PROPTEST_CASES` sets a larger number.
fn fewer_cases(times: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases.div_ceil(times), ..default }
}

/// The content of a database after segments were committed one by one.
fn database_of(segments: Vec<RowChanges>) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let mut database = Database::open(&folder.path().join("database"), DEFAULT_WAIT).unwrap();
    let mut expected = None;
    for (line, changes) in (1..).zip(segments) {
        let output = changes.into_rows();
        let position = Position { line, offset: line };
        let (facts, state) = (SourceFacts::default(), Json::default());
        let checkpoint = Checkpoint { facts, position, state, complete: false };
        let commit = Commit { source: SourceName::from("log"), expected, checkpoint, output };
        database.commit(&[commit], &[]).unwrap();
        expected = Some(position);
    }
    let tables = [
        "SELECT idx || ' ' || type || ' ' || content FROM entries ORDER BY session, idx",
        "SELECT corr_id || ' ' || tool_name || ' ' || status FROM tool_calls ORDER BY entry",
        "SELECT model || ' ' || coalesce(output_tokens, '') FROM usage ORDER BY session, model",
        "SELECT kind || ' ' || count FROM warnings ORDER BY session, kind",
    ];
    let connection = database.connection();
    let read = tables.map(|sql| {
        let mut query = connection.prepare(sql).unwrap();
        let rows = query.query_map([], |row| row.get(0)).unwrap();
        rows.map(|row| row.unwrap()).collect()
    });
    read.to_vec()
}

proptest! {
    #[test]
    fn the_generated_events_are_in_balance(events in generate::events()) {
        law::balance(&events)?;
    }

    #[test]
    fn patches(events in generate::events()) {
        law::commuting_diagram(PatchEmitter::default(), &events)?;
        law::dense_indices(PatchEmitter::default(), &events)?;
        law::emitter(PatchEmitter::default, &events)?;
        law::resume(PatchEmitter::default, &events)?;
    }

    #[test]
    fn a_stream_of_patches(events in generate::located_events()) {
        law::emitter(PatchStream::default, &events)?;
        law::resume(PatchStream::default, &events)?;
    }

    #[test]
    fn metrics(events in generate::located_events()) {
        law::emitter(Metrics::default, &events)?;
        law::resume(Metrics::default, &events)?;
    }

    #[test]
    fn opentelemetry(events in generate::located_events()) {
        let sessions = || per_session(|_| by_item(Otlp::default().with_content()));
        law::emitter(sessions, &events)?;
        law::resume(sessions, &events)?;
    }

    #[test]
    fn a_transcript(events in generate::events()) {
        let transcript = || Transcript::new(TranscriptStyle::new(80).with_color(true));
        law::emitter(transcript, &events)?;
        law::resume(transcript, &events)?;
        law::independence(transcript, PatchEmitter::default, &events)?;
    }

    #[test]
    fn transcripts_of_several_sessions(events in generate::located_events()) {
        let style = TranscriptStyle::new(80);
        let transcripts = || SessionTranscripts::new(style, move || Transcript::new(style));
        law::emitter(transcripts, &events)?;
        law::resume(transcripts, &events)?;
    }

    #[test]
    fn fragments_of_html(events in generate::events()) {
        law::emitter(HtmlEmitter::default, &events)?;
        law::resume(HtmlEmitter::default, &events)?;
    }

    #[test]
    fn a_document_in_markdown(events in generate::events()) {
        law::emitter(Markdown::default, &events)?;
    }

    #[test]
    fn a_trajectory(events in generate::events()) {
        law::emitter(Atif::default, &events)?;
    }

    #[test]
    fn rows_of_tables(events in generate::events()) {
        law::emitter(SessionRows::default, &events)?;
    }

    #[test]
    fn usage(events in generate::located_events()) {
        law::emitter(UsageEmitter::default, &events)?;
        law::resume(UsageEmitter::default, &events)?;
    }

    #[test]
    fn findings(events in generate::located_events()) {
        law::emitter(SchemaDrift::default, &events)?;
    }

    #[test]
    fn rows(events in generate::located_events()) {
        law::emitter(|| RowEmitter, &events)?;
    }
}

proptest! {
    #![proptest_config(fewer_cases(8))]

    #[test]
    fn a_page_of_html(events in generate::events()) {
        law::emitter(Page::default, &events)?;
    }

    #[test]
    fn patches_of_what_was_redacted(events in generate::events()) {
        law::emitter(|| Redact::new(PatchEmitter::default()), &events)?;
    }

    #[test]
    fn an_audit_trail(events in generate::located_events()) {
        law::emitter(AuditTrail::default, &events)?;
        law::resume(AuditTrail::default, &events)?;
    }

    #[test]
    fn rows_in_a_database(events in generate::located_events()) {
        law::segments(|| RowEmitter, &events, database_of)?;
    }
}

/// The place of a session among those of these events, in the order of their first events.
fn place(session: SessionKey, events: &[Located<DomainEvent>]) -> usize {
    let mut order = Vec::new();
    for event in events {
        if !order.contains(&event.session) {
            order.push(event.session);
        }
    }
    order.iter().position(|other| *other == session).unwrap()
}

/// The rows of one session.
fn session_rows(session: SessionKey, events: &[Located<DomainEvent>]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut database = Database::open(&folder.path().join("database"), DEFAULT_WAIT).unwrap();
    let checkpoint = Checkpoint {
        facts: SourceFacts::default(),
        position: Position { line: 1, offset: 1 },
        state: Json::default(),
        complete: false,
    };
    let (source, output) = (SourceName::from("log"), events.iter().collect::<Rows>());
    database.commit(&[Commit { source, expected: None, checkpoint, output }], &[]).unwrap();
    let connection = database.connection();
    let sql = "SELECT id FROM sessions ORDER BY id LIMIT 1 OFFSET ?1";
    let id: i64 =
        connection.query_row(sql, [place(session, events) as i64], |row| row.get(0)).unwrap();
    let tables = [
        "SELECT concat_ws(' ', agent, model, cwd, title, outcome, entries) FROM sessions WHERE id = ?1",
        "SELECT idx || ' ' || type || ' ' || content FROM entries WHERE session = ?1 ORDER BY idx",
        "SELECT model || ' ' || coalesce(output_tokens, '') FROM usage WHERE session = ?1 ORDER BY model",
        "SELECT kind || ' ' || count FROM warnings WHERE session = ?1 ORDER BY kind",
    ];
    let read = |sql: &str| -> Vec<String> {
        let mut query = connection.prepare(sql).unwrap();
        query.query_map([id], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    tables.into_iter().flat_map(read).collect()
}

/// What one emitter for each session makes of this session.
fn keyed<M, Out>(
    make: impl Fn() -> M,
    session: SessionKey,
    events: &[Located<DomainEvent>],
) -> Vec<String>
where
    M: Emitter<DomainEvent, Out>,
    Out: Debug,
{
    let key = |event: &Located<DomainEvent>| event.session;
    let mut emitter = KeyedEmitter::new(key, |_: &SessionKey| by_item(make()));
    let outputs = events.iter().flat_map(|event| emitter.emit(event)).collect::<Vec<_>>();
    let all = outputs.into_iter().chain(emitter.finish());
    let own = all.filter(|(key, _)| *key == session);
    own.map(|(_, output)| format!("{output:?}")).collect()
}

proptest! {
    #![proptest_config(fewer_cases(4))]

    #[test]
    fn no_consumer_mixes_sessions(events in generate::located_events()) {
        let usage = |session: SessionKey, events: &[Located<DomainEvent>]| {
            let mut emitter = UsageEmitter::default();
            events.iter().for_each(|event| drop(emitter.emit(event)));
            emitter.into_sessions().into_iter().nth(place(session, events))
        };
        let patches = |session, events: &[Located<DomainEvent>]| {
            keyed(PatchEmitter::default, session, events)
        };
        let fragments = |session, events: &[Located<DomainEvent>]| {
            keyed(HtmlEmitter::default, session, events)
        };
        law::consumer_sessions(usage, &events)?;
        law::consumer_sessions(patches, &events)?;
        law::consumer_sessions(fragments, &events)?;
        law::consumer_sessions(session_rows, &events)?;
    }
}
