//! A session at a moment equals a page of the events until then.

use foldline_domain::DomainEvent;
use foldline_render::html::{History, Page, Snapshot};
use foldline_testkit::generate;
use proptest::prelude::*;

/// The rendered content without the texts that depend on the moment.
fn shown(snapshot: &Snapshot, words: &str) -> [String; 4] {
    let end = snapshot.outermost().next_back().map_or(0, |last| last.get() + 1);
    let about = snapshot.about();
    let chip = about.find("<span class=\"state chip when-past\">");
    let about = match chip {
        Some(start) if !words.is_empty() => {
            let end = start + about[start..].find("</span>").unwrap() + "</span>".len();
            assert!(about[start..end].contains(words));
            about[..start].to_owned() + &about[end..]
        }
        _ => about,
    };
    [snapshot.title(), about, snapshot.side(), snapshot.entries(0..end)]
}

fn every_moment_is_that_of_its_events(events: &[DomainEvent]) -> Result<(), TestCaseError> {
    let mut history = History::default();
    let mut page = Page::default();
    let mut then = vec![shown(page.snapshot(), "")];
    for event in events {
        prop_assert_eq!(history.fragment(event), page.fragment(event));
        then.push(shown(page.snapshot(), ""));
    }
    prop_assert_eq!(history.end(), page.end());
    prop_assert_eq!(shown(history.page().snapshot(), ""), shown(page.snapshot(), ""));
    for (moment, then) in then.iter().enumerate() {
        prop_assert_eq!(&shown(&history.at(moment, "then"), "then"), then);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn a_moment_is_what_the_events_until_then_show(events in generate::events()) {
        every_moment_is_that_of_its_events(&events)?;
    }
}

/// More events than the maximum number of checkpoints, so that intermediate ones are dropped.
#[test]
fn the_facts_of_a_long_session_are_those_of_their_moment() {
    use foldline_domain::{NormalizedEntry, NormalizedEntryType::UserMessage};
    let prompt = |n: usize| DomainEvent::entry(NormalizedEntry::new(UserMessage, format!("<{n}>")));
    let mut history = History::default();
    for n in 1..=40_000 {
        history.fragment(&prompt(n));
    }
    for moment in [0, 1, 255, 256, 257, 511, 16_384, 16_385, 32_768, 39_999, 40_000] {
        let about = history.at(moment, "then").about();
        let entries = foldline_render::human::number_of(moment, "entry");
        assert!(about.contains(&format!("<dd>{entries}, ")), "{moment}: {about}");
    }
    assert_eq!(history.at(50_000, "later").outermost().count(), 40_000);
}
