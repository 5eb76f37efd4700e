//! The laws for the emitters of the crate, on all possible events of executors and on several entries that grow at
//! once.

use foldline::{
    conversation::{Json, Position},
    emitters::{
        audit::AuditTrail,
        drift::Drift,
        html::{HtmlEmitter, Page},
        markdown::Markdown,
        metrics::Metrics,
        patch::{PatchEmitter, PatchStream},
        redact::Redact,
        sqlite::{DEFAULT_WAIT, Database, RowEmitter, Rows},
        transcript::{SessionTranscripts, Transcript, TranscriptStyle},
        usage::UsageEmitter,
    },
    ledger::{Checkpoint, Commit, Ledger, SourceFacts, SourceName},
    testkit::{generate, law},
};
use proptest::prelude::*;

use super::fewer_cases;

/// The content of a database after segments were committed one by one.
fn database_of(segments: Vec<Rows>) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let mut database = Database::open(&folder.path().join("database"), DEFAULT_WAIT).unwrap();
    let mut expected = None;
    for (line, output) in (1..).zip(segments) {
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
    fn usage(events in generate::located_events()) {
        law::emitter(UsageEmitter::default, &events)?;
        law::resume(UsageEmitter::default, &events)?;
    }

    #[test]
    fn findings(events in generate::located_events()) {
        law::emitter(Drift::default, &events)?;
    }

    #[test]
    fn rows(events in generate::located_events()) {
        law::emitter(RowEmitter::default, &events)?;
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
        law::gather(RowEmitter::default, &events, database_of)?;
        law::gather_and_resume(RowEmitter::default, &events, database_of)?;
    }
}
