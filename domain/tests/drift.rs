//! What a log has that an executor does not know.

use foldline::transduce::*;
use foldline_domain::{drift::*, *};

#[test]
fn findings_are_counted_without_their_content() {
    let mut drift = SchemaDrift::default();
    for line in [7, 9] {
        let sample: Json =
            serde_json::from_str(r#"{"secret":"x","n":[1,2,"a"],"/home/me":null}"#).unwrap();
        let warning = Warning::new(WarningKind::UnknownEvent, "?").about("news").sample(sample);
        let position = Position { line, offset: 0 };
        let _ = drift.emit(&Located::new(position, warning.into()));
    }
    let findings: Vec<_> = drift.findings().collect();
    let (kind, subject, finding) = &findings[0];
    assert_eq!((*kind, *subject), (WarningKind::UnknownEvent, "news"));
    assert_eq!((finding.count, finding.first_line), (2, 7));
    assert_eq!(finding.shape.as_deref(), Some("{…:null,n:[number|string],secret:string}"));
}
