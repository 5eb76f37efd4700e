//! Codex's two formats, from the raw lines to the conversation.
#![cfg(feature = "executors")]

mod replay;
use foldline::executors::Format;
use replay::*;

#[test]
fn nothing_in_the_captures_is_strange() {
    for (format, folder) in [
        (Format::CodexExec, "codex-exec"),
        (Format::CodexRollout, "codex-rollout"),
        (Format::DroidSession, "droid-session"),
    ] {
        for log in all_logs(folder).iter().filter(|log| is_capture(log)) {
            let r = Replay::of(format, &std::fs::read(log).unwrap());
            println!(
                "=== {} {:?} {:?}",
                log.display(),
                r.conversation.summary.warnings,
                counts(&r.conversation)
            );
            println!("{:#?}", r.session());
            for l in r.lines() {
                println!("  {}", l.chars().take(150).collect::<String>().replace('\n', "\\n"));
            }
            for e in &r.events {
                if let foldline::conversation::DomainEvent::Warning(w) = e {
                    println!("  !! {:?} {:?} {}", w.kind, w.subject, w.message)
                }
            }
        }
    }
}
