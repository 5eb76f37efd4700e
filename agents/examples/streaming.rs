//! An agent whose messages arrive in pieces: each piece becomes a patch of the same entry.

use foldline::transduce::Transducer;
use foldline_agents::prelude::*;
use foldline_domain::patch::PatchEmitter;

/// The invented agent.
struct Myna;

/// One record of its logs.
enum Line {
    /// A piece of a message.
    Piece(Text),
    /// The whole message, usually after its pieces.
    Whole(Text),
    Asked(Text),
}

impl Executor for Myna {
    const FORMAT: Format = Format::new("myna", "Myna, an invented agent", "myna");
    type Line<'a> = Line;
    type Result = ToolOutcome;
    /// The entry that grows.
    type Memory = Growing;

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        Evidence::certain_if(object.has("myna"))
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Line> {
        header.name = object.get_str("myna").unwrap_or_default();
        let text = object.text("text").unwrap_or_default();
        let line = match &*header.name {
            "piece" => Line::Piece(text),
            "whole" => Line::Whole(text),
            "asked" => Line::Asked(text),
            _ => return Parsed::Unknown,
        };
        object.ignore(&["myna"]);
        Parsed::Line(line)
    }

    fn line(
        &self,
        line: Line,
        extra: Extra,
        growing: &mut Growing,
        cx: &mut Context<'_, ToolOutcome>,
    ) {
        let says = NormalizedEntryType::AssistantMessage;
        match line {
            Line::Piece(text) => growing.grow(cx.draft(says, text, extra), cx),
            Line::Whole(text) => growing.say(cx.draft(says, text, extra), cx),
            Line::Asked(text) => {
                growing.close(cx);
                cx.entry(NormalizedEntryType::UserMessage, text, extra);
            }
        }
    }

    /// At the end of a log no further piece arrives.
    fn end(&self, growing: &mut Growing, cx: &mut Context<'_, ToolOutcome>) {
        growing.close(cx);
    }
}

const LOG: &str = r#"{"myna":"asked","text":"Where is it?"}
{"myna":"piece","text":"In the "}
{"myna":"piece","text":"second "}
{"myna":"whole","text":"In the second drawer."}
{"myna":"piece","text":"Shall I "}
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut patches = Vec::new();
    let mut transducer = Transducer::new(DynExecutor::new(Myna), PatchEmitter::default());
    for line in LOG.lines() {
        foldline_agents::wire::Record::read(line, |_, record| {
            patches.extend(transducer.step(record));
        });
    }
    patches.extend(transducer.finish().2);
    let mut document = serde_json::json!({ "entries": [] });
    for patch in &patches {
        println!("{}", serde_json::to_string(patch)?);
        let patch: json_patch::Patch = serde_json::from_value(serde_json::to_value(patch)?)?;
        json_patch::patch(&mut document, &patch)?;
    }
    let said = |index: usize| document["entries"][index]["content"]["content"].as_str();
    assert_eq!(said(1), Some("In the second drawer."));
    assert_eq!(said(2), Some("Shall I "));
    Ok(())
}
