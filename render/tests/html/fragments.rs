//! HTML fragments as delivered to a page.

use std::sync::Arc;

use foldline::transduce::Emitter;
use foldline_domain::{
    ActionType, CorrId, DomainEvent, EntryIdx, NormalizedEntry,
    NormalizedEntryType::{AssistantMessage, ToolUse, UserMessage},
    ToolStatus,
};
use foldline_render::html::*;

fn call(tool: &str, action: ActionType, parent: Option<&str>) -> NormalizedEntry {
    let tool_use = foldline_domain::ToolUse::new(tool, action);
    let mut entry = NormalizedEntry::new(ToolUse(tool_use), tool);
    entry.metadata_mut().parent_corr_id = parent.map(CorrId::from);
    entry
}

fn command(line: &str, parent: Option<&str>) -> NormalizedEntry {
    call("Bash", ActionType::CommandRun { command: line.into(), result: None }, parent)
}

fn task() -> NormalizedEntry {
    let description = "Look <around>".into();
    let action = ActionType::TaskCreate {
        description,
        prompt: None,
        subagent_type: Some("explore".into()),
        result: None,
    };
    call("Task", action, None)
}

fn begins(id: &str, entry: &NormalizedEntry) -> DomainEvent {
    DomainEvent::NewToolCall { corr_id: id.into(), entry: Arc::new(entry.clone()) }
}

fn ends(id: &str, mut entry: NormalizedEntry, status: ToolStatus) -> DomainEvent {
    if let Some(tool) = entry.tool_mut() {
        tool.complete(status, "done");
    }
    DomainEvent::UpdateToolCall { corr_id: id.into(), entry: Arc::new(entry) }
}

fn fragments(events: &[DomainEvent]) -> Vec<Fragment> {
    let mut html = HtmlEmitter::default();
    let mut all: Vec<_> = events.iter().flat_map(|event| html.emit(event)).collect();
    all.extend(html.finish());
    all
}

#[test]
fn text_that_grows_is_sent_as_it_comes_and_rendered_once() {
    let entry = Arc::new(NormalizedEntry::new(AssistantMessage, "*to "));
    let id = CorrId::from("m");
    let events = [
        DomainEvent::OpenEntry { corr_id: id.clone(), entry },
        DomainEvent::GrowEntry { corr_id: id.clone(), text: "be* <b".into() },
        DomainEvent::GrowEntry { corr_id: id.clone(), text: ">".into() },
        DomainEvent::CloseEntry { corr_id: id, entry: None },
    ];
    let all = fragments(&events);
    let places: Vec<_> = all.iter().map(|fragment| fragment.place).collect();
    assert_eq!(places, [Place::Append, Place::Grow, Place::Grow, Place::Replace]);
    assert!(all[0].html.contains("data-open aria-busy=\"true\""));
    let (before, after) = all[0].html.split_at(all[0].inside.unwrap());
    assert!(before.ends_with("<p class=\"raw grows\">*to ") && after.starts_with("</p>"));
    assert_eq!([&*all[1].html, &*all[2].html], ["be* &lt;b", "&gt;"]);
    assert!(all[3].html.contains("<p><em>to be</em> &lt;b&gt;</p>"));
}

#[test]
fn an_entry_that_is_never_closed_is_complete_at_the_end() {
    let entry = Arc::new(NormalizedEntry::new(UserMessage, "hi"));
    let all = fragments(&[DomainEvent::OpenEntry { corr_id: "m".into(), entry }]);
    assert_eq!(all.last().unwrap().place, Place::Replace);
    assert!(all.last().unwrap().html.contains("You <small>turn 1</small>"));
}

#[test]
fn what_is_sent_of_a_growing_entry_stays_within_a_constant_of_its_text() {
    let entry = Arc::new(NormalizedEntry::new(AssistantMessage, ""));
    let mut events = vec![DomainEvent::OpenEntry { corr_id: "m".into(), entry }];
    for _ in 0..5_000 {
        events.push(DomainEvent::GrowEntry { corr_id: "m".into(), text: "word ".into() });
    }
    events.push(DomainEvent::CloseEntry { corr_id: "m".into(), entry: None });
    let sent: usize = fragments(&events).iter().map(|fragment| fragment.html.len()).sum();
    assert!(sent < 3 * 5_000 * "word ".len(), "{sent}");
}

#[test]
fn the_work_of_a_sub_agent_stands_within_its_call() {
    let inner = command("ls", Some("t"));
    let events = [
        begins("t", &task()),
        begins("c", &inner),
        ends("c", inner, ToolStatus::Failed),
        ends("t", task(), ToolStatus::Success),
    ];
    let all = fragments(&events);
    let parents: Vec<_> =
        all.iter().map(|f| f.parent.map(foldline_domain::EntryIdx::get)).collect();
    assert_eq!(parents, [None, Some(0), Some(0), None]);
    assert!(all[3].html.contains("<span>explore</span><span>1 entry</span>"));
    assert!(all[3].html.contains("<span class=\"exit\">1 failed</span>"));
    assert!(all[3].html.contains("data-bad-within"));

    let mut page = Page::default();
    events.iter().for_each(|event| page.apply(event));
    let html = page.render();
    let feed = html.find("<div class=\"feed\">\n<article class=\"entry\" id=\"e1\"").unwrap();
    assert!(html.find("id=\"e0\"").unwrap() < feed);
    let end = html[feed..].find("</article>\n</div><div class=\"answer\">");
    assert!(end.is_some(), "{}", &html[feed..]);
}

#[test]
fn calls_that_were_made_at_once_are_joined() {
    let [a, b, c] = ["a", "b", "c"].map(|line| command(line, None));
    let events = [
        begins("a", &a),
        begins("b", &b),
        begins("c", &c),
        ends("b", b, ToolStatus::Success),
        ends("a", a, ToolStatus::Success),
        ends("c", c.clone(), ToolStatus::Success),
        begins("d", &c),
    ];
    let all = fragments(&events);
    let joined = |n: usize| {
        let (_, rest) = all[n].html.split_once("data-par=\"")?;
        Some(rest.split_once('"')?.0.to_owned())
    };
    assert_eq!(joined(3).as_deref(), Some("mid"));
    assert_eq!(joined(4).as_deref(), Some("first"));
    assert_eq!(joined(5).as_deref(), Some("last"));
    assert_eq!(joined(6), None);
}

#[test]
fn what_went_wrong_is_open_and_what_went_well_is_folded() {
    let of = |status| {
        let call = command("ls", None);
        fragments(&[begins("c", &call), ends("c", call, status)]).remove(1).html
    };
    let html = of(ToolStatus::Failed);
    assert!(html.contains("<details class=\"call\" open>") && html.contains("data-bad"));
    let html = of(ToolStatus::Denied { reason: Some("not <here>".into()) });
    assert!(html.contains("Denied: not &lt;here&gt;"));
    let html = of(ToolStatus::Success);
    assert!(html.contains("<details class=\"call\">") && !html.contains("data-bad"));
}

#[test]
fn updates_of_nothing_are_counted() {
    let mut html = HtmlEmitter::default();
    let event = ends("c", command("ls", None), ToolStatus::Success);
    assert!(html.emit(&event).is_empty());
    assert_eq!(html.unknown(), 1);
}

#[test]
fn calls_within_each_other_or_themselves_do_no_harm() {
    let mut page = Page::default();
    for n in 0..2_000 {
        let parent = if n % 7 == 0 { n } else { n - 1 };
        let entry = command("ls", Some(&parent.to_string()));
        page.apply(&begins(&n.to_string(), &entry));
    }
    page.end();
    assert_eq!(page.render().matches("<article").count(), 2_000);
}

#[test]
fn a_page_can_be_had_in_parts() {
    let mut page = Page::default();
    for event in [begins("t", &task()), DomainEvent::entry(command("ls", Some("t")))] {
        assert!(page.fragment(&event).is_some());
    }
    page.apply(&DomainEvent::entry(command("pwd", None)));
    assert_eq!(page.end(), []);
    let outermost: Vec<_> = page.snapshot().outermost().map(EntryIdx::get).collect();
    assert_eq!(outermost, [0, 2]);
    let of = |index| page.snapshot().outermost_of(EntryIdx::new(index)).map(EntryIdx::get);
    assert_eq!([0, 1, 2, 3].map(of), [Some(0), Some(0), Some(2), None]);
    let whole = page.render();
    let (first, last) = (page.snapshot().entries(0..2), page.snapshot().entries(2..9));
    assert!(first.contains("id=\"e1\"") && !first.contains("id=\"e2\""));
    assert!(whole.contains(&(first + &last)));
    assert!(whole.contains(&page.snapshot().about()) && whole.contains(&page.snapshot().side()));
    assert_eq!(page.snapshot().entries(1..1), "");
}

#[test]
fn another_model_is_a_divider_and_the_first_is_none() {
    let model = |name: &str| {
        let kind = foldline_domain::NormalizedEntryType::ModelChange { model: name.into() };
        DomainEvent::entry(NormalizedEntry::new(kind, format!("model: {name}")))
    };
    let all = fragments(&[model("a"), model("b")]);
    assert!(!all[0].html.contains("data-mark"));
    assert!(all[1].html.contains("data-mark=\"model\""));
    assert!(all[1].html.contains("<span>Model changes to b</span>"));
}

#[test]
fn the_last_list_of_things_to_do_is_open() {
    let todo = || {
        let todos = vec![foldline_domain::TodoItem::new("a", "pending")];
        let action = ActionType::TodoManagement { todos, operation: "write".into(), result: None };
        call("TodoWrite", action, None)
    };
    let mut page = Page::default();
    for id in ["1", "2"] {
        page.apply(&begins(id, &todo()));
        page.apply(&ends(id, todo(), ToolStatus::Success));
    }
    let html = page.render();
    let (first, last) = html.split_at(html.find("id=\"e1\"").unwrap());
    assert!(first.contains("<details class=\"call\">"));
    assert!(last.contains("<details class=\"call\" open>"));
}

#[test]
fn what_a_log_does_not_say_that_it_cost_is_estimated() {
    use foldline_domain::{TokenUsage, pricing::Prices};
    let prices = Prices::read(r#"{"m": {"input_cost_per_token": 2, "output_cost_per_token": 3}}"#);
    let prices = Arc::new(prices.unwrap());
    let used = |cost_usd, input_tokens| DomainEvent::Usage {
        usage: Box::new(TokenUsage { input_tokens, cost_usd, ..TokenUsage::default() }),
        model: Some("m".into()),
        message_id: None,
        timestamp: None,
    };
    let cost = |events: &[DomainEvent]| {
        let mut page = Page::with_prices(Arc::clone(&prices));
        events.iter().for_each(|event| page.apply(event));
        let about = page.snapshot().about();
        let (_, cost) = about.split_once("<dt>Cost</dt><dd>")?;
        Some(cost.split("</dd>").next()?.to_owned())
    };
    assert_eq!(cost(&[]), None);
    assert_eq!(cost(&[used(None, Some(1))]).as_deref(), Some("≈ $2.00"));
    assert_eq!(cost(&[used(Some(7.0), Some(1))]).as_deref(), Some("$7.00"));
    assert_eq!(cost(&[used(Some(7.0), Some(1)), used(None, Some(1))]).as_deref(), Some("≈ $9.00"));
    // The total cost is stated separately from the tokens.
    assert_eq!(cost(&[used(None, Some(1)), used(Some(5.0), None)]).as_deref(), Some("$5.00"));
}

#[test]
fn open_calls_are_counted_and_those_that_wait_for_a_person() {
    let asks = ActionType::Question { questions: vec!["Which?".into()], result: None };
    let asks = call("Ask", asks, None);
    let mut page = Page::default();
    page.apply(&begins("c", &command("ls", None)));
    page.apply(&begins("q", &asks));
    let about = page.snapshot().about();
    assert!(about.contains("1 waits for a person"), "{about}");
    assert!(about.contains("none failed, 1 running"), "{about}");
    page.apply(&ends("c", command("ls", None), ToolStatus::Success));
    page.apply(&ends("q", asks, ToolStatus::Success));
    let about = page.snapshot().about();
    assert!(!about.contains("waits") && !about.contains("running"), "{about}");
}

#[test]
fn clones_of_a_page_are_apart() {
    let begun = Page::default().in_zone(jiff::tz::TimeZone::UTC);
    let pages = [begun.clone(), begun].map(|mut page| {
        page.apply(&begins("c", &command("ls", None)));
        page.apply(&ends("c", command("ls", None), ToolStatus::Success));
        page.render()
    });
    assert!(pages[0].contains("data-status=\"success\""), "{}", pages[0]);
    assert_eq!(pages[0], pages[1]);
}

#[test]
fn the_context_is_that_of_the_last_request() {
    use foldline_domain::{TokenUsage, pricing::Prices};
    let prices = r#"{"m": {"input_cost_per_token": 2, "output_cost_per_token": 3, "max_input_tokens": 1000}}"#;
    let prices = Arc::new(Prices::read(prices).unwrap());
    let used = |id: Option<&str>, model: &str, input, output| DomainEvent::Usage {
        usage: Box::new(TokenUsage {
            input_tokens: Some(input),
            output_tokens: Some(output),
            ..TokenUsage::default()
        }),
        model: Some(model.into()),
        message_id: id.map(Into::into),
        timestamp: None,
    };
    let context = |events: &[DomainEvent]| {
        let mut page = Page::with_prices(Arc::clone(&prices));
        events.iter().for_each(|event| page.apply(event));
        let about = page.snapshot().about();
        let (_, context) = about.split_once("<dt>Context</dt><dd>")?;
        Some(context.split("</div>").next()?.replace("</dd><dd>", ", ").replace("</dd>", ""))
    };
    let first = used(Some("1"), "m", 100, 20);
    assert_eq!(context(std::slice::from_ref(&first)).as_deref(), Some("12 %, 120 of 1.0k"));
    let second = used(Some("2"), "m", 590, 4);
    assert_eq!(context(&[first.clone(), second]).as_deref(), Some("59 %, 594 of 1.0k"));
    // Sums of several requests, models without a window, and more than the window say nothing.
    let sum = used(None, "m", 900, 0);
    assert_eq!(context(&[first.clone(), sum]).as_deref(), Some("12 %, 120 of 1.0k"));
    assert_eq!(context(&[used(Some("1"), "other", 5, 0)]), None);
    assert_eq!(context(&[first, used(Some("2"), "m", 5000, 0)]), None);
}

#[test]
fn entries_can_have_links_that_ask_for_more() {
    let call = command("ls", None);
    let events = [begins("c", &call), DomainEvent::entry(command("cat", Some("c")))];
    let mut page = Page::default().served();
    let fragments: Vec<_> = events.iter().filter_map(|event| page.fragment(event)).collect();
    assert!(fragments.iter().all(|it| it.html.ends_with("></a></article>")));
    let mut shown = page.snapshot().clone();
    shown.append_to(EntryIdx::new(0), "<p>why</p>");
    shown.append_to(EntryIdx::new(9), "<p>why</p>");
    let html = shown.entries(0..9);
    assert!(html.contains("aria-label=\"Explain entry 0\"></a><p>why</p></article>"));
    assert_eq!(html.matches("class=\"why\"").count(), 2);
    assert_eq!(html.matches("<p>why</p>").count(), 1);
}

/// The facts in the row of a call with these further fields, and what opens with it.
fn with_fields(mut entry: NormalizedEntry, fields: &str) -> (String, String) {
    entry.metadata_mut().extra = serde_json::from_str(fields).unwrap();
    let fragments = fragments(&[begins("a", &entry), ends("a", entry, ToolStatus::Success)]);
    let (_, facts) = fragments[1].html.split_once("<span class=\"facts\">").unwrap();
    let (facts, rest) = facts.split_once("<span class=\"dur\"").unwrap();
    let (_, body) = rest.split_once("<div class=\"body\">").unwrap();
    (facts.to_owned(), body.to_owned())
}

#[test]
fn what_matters_for_trust_is_in_the_row_of_a_call() {
    let marks = |entry, fields: &str| with_fields(entry, fields).0;
    let given =
        r#"{"timeout": 600000, "run_in_background": true, "dangerouslyDisableSandbox": true}"#;
    let row = marks(command("make", None), given);
    let all = "<span class=\"ask\">no sandbox</span><span>timeout 10 m 00 s</span><span>in background</span>";
    assert!(row.starts_with(all), "{row}");
    let escalated = marks(command("make", None), r#"{"sandbox_permissions": "require_escalated"}"#);
    assert!(escalated.contains(">no sandbox</span>"));
    // The unit of this tool's limit is not known.
    let action = ActionType::CommandRun { command: "make".into(), result: None };
    let row = marks(call("Execute", action, None), r#"{"timeout": 1200}"#);
    assert!(row.contains("<span>timeout 1,200</span>"), "{row}");
    let row = marks(task(), r#"{"model": "a <b>"}"#);
    assert!(row.contains("<span>a &lt;b&gt;</span>"), "{row}");
    let none = r#"{"run_in_background": false, "dangerouslyDisableSandbox": "no", "model": "m", "timeout": []}"#;
    let row = marks(command("make", None), none);
    assert!(
        !row.contains("background") && !row.contains("sandbox") && !row.contains("timeout"),
        "{row}"
    );
}

#[test]
fn further_fields_of_a_call_open_with_it() {
    let given = r#"{"glob": "*.rs", "<b>": "a \"b\"", "n": 1.50, "is": true, "in": {"a": ["b"]}, "two": "c\nd"}"#;
    let (_, body) = with_fields(command("make", None), given);
    let sheet = "<dl class=\"args\"><dt>glob</dt><dd>*.rs</dd><dt>&lt;b&gt;</dt><dd>a &quot;b&quot;</dd>\
        <dt>n</dt><dd>1.50</dd><dt>is</dt><dd>true</dd><dt>in</dt><dd><pre class=\"out\">{\n";
    assert!(body.starts_with(sheet), "{body}");
    assert!(body.contains("<dt>two</dt><dd><pre class=\"out\">c\nd</pre></dd></dl>"), "{body}");
    assert!(!with_fields(command("make", None), "{}").1.contains("<dl"));
}
