//! The cost of each further consumer in addition to the patches: all of them in one run, on the same log.
//!
//! An audit trail hashes every byte of the log, and every byte of its own records. "line hashes" is the former alone.
//! "Aside" is on a separate thread: the consumer, or, if the lines must be hashed, all consumers.
#![allow(missing_docs)]

#[path = "../../benches/common/mod.rs"]
mod common;

use std::{convert::Infallible, hint::black_box};

use criterion::{Criterion, Throughput};
use foldline::{
    processor::Processor,
    transduce::{Batch, Emitter, Tee, Transducer, emit_fn},
};
use foldline_agents::{Records, Registry};
use foldline_domain::{
    Digest, DomainEvent, Located,
    audit::{AuditChain, EventRecords},
    locating,
    metrics::Metrics,
    patch::PatchStream,
};
use foldline_render::transcript::{Transcript, TranscriptStyle};

use self::common::{droid, timing};

const BYTES: usize = 20 << 20;

/// Discards bytes, in blocks as written to a file.
#[derive(Default)]
struct Sink(Vec<u8>);

impl Sink {
    fn out(&mut self) -> &mut Vec<u8> {
        if self.0.len() > 1 << 16 {
            black_box(&self.0);
            self.0.clear();
        }
        &mut self.0
    }
}

/// The patches, as `foldline replay --format patches` writes them.
fn patches() -> impl Emitter<Located<DomainEvent>, Infallible> {
    let (mut stream, mut sink) = (PatchStream::default(), Sink::default());
    emit_fn(move |event: &Located<DomainEvent>| {
        if let Some(record) = stream.record(event) {
            let out = sink.out();
            foldline_json::append(out, &record).expect("patches have a JSON form");
            out.push(b'\n');
        }
        Batch::EMPTY
    })
}

fn audit(mut records: EventRecords) -> impl Emitter<Located<DomainEvent>, Infallible> {
    let (mut chain, mut sink) = (AuditChain::default(), Sink::default());
    emit_fn(move |event: &Located<DomainEvent>| {
        chain.append(&records.record(event), sink.out());
        Batch::EMPTY
    })
}

fn transcript() -> impl Emitter<Located<DomainEvent>, Infallible> {
    let style = TranscriptStyle::new(100);
    let (mut transcript, mut sink) = (Transcript::new(style), Sink::default());
    emit_fn(move |event: &Located<DomainEvent>| {
        let lines: Batch<String> = transcript.emit(&event.item);
        lines.drain_with(|line| sink.out().extend_from_slice(line.as_bytes()));
        Batch::EMPTY
    })
}

/// The patches and one more consumer.
fn run(log: &str, line_hashes: bool, side: impl Emitter<Located<DomainEvent>, Infallible>) {
    consume(log, line_hashes, Tee { main: patches(), side });
}

fn consume(
    log: &str,
    line_hashes: bool,
    consumers: impl Emitter<Located<DomainEvent>, Infallible>,
) {
    let executor =
        Registry::builtin().named("droid").cloned().expect("there is an executor for Droid");
    let mut processor = Processor::new(Records, Transducer::new(locating(executor), consumers));
    if line_hashes {
        processor = processor.with_line_hashes();
    }
    for chunk in log.as_bytes().chunks(256 << 10) {
        processor.push(chunk, |never| match never {});
    }
    processor.finish(|never| match never {});
}

/// The audit trail of a log.
fn records(log: &str) -> String {
    let (mut chain, mut records) = (AuditChain::default(), EventRecords::default());
    let mut trail = Vec::new();
    let append = emit_fn(|event: &Located<DomainEvent>| {
        chain.append(&records.record(event), &mut trail);
        Batch::EMPTY
    });
    consume(log, true, append);
    String::from_utf8(trail).expect("a trail is text")
}

type Way = fn(&str);
const WAYS: [(&str, Way); 6] = [
    ("patches", |log| run(log, false, ())),
    ("metrics", |log| run(log, false, Metrics::default())),
    ("line hashes", |log| run(log, true, ())),
    ("audit", |log| run(log, true, audit(EventRecords::default()))),
    ("audit with event digests", |log| {
        run(log, true, audit(EventRecords::default().with_event_digests()));
    }),
    ("transcript", |log| run(log, false, transcript())),
];

fn main() {
    let log = droid::log(BYTES, 1);
    let mut criterion = Criterion::default().configure_from_args().sample_size(10);
    let mut group = criterion.benchmark_group("fanout");
    group.throughput(Throughput::Bytes(log.len() as u64));
    for (name, way) in WAYS {
        group.bench_function(name, |bencher| bencher.iter(|| way(&log)));
    }
    group.finish();
    criterion.final_summary();

    let log = log.as_str();
    let records = records(log);
    let mut hashes = || {
        for line in log.lines().chain(records.lines()) {
            black_box(Digest::of(line.as_bytes()));
        }
    };
    let mut ways = WAYS.map(|(_, way)| move || way(log));
    let mut ways: Vec<&mut dyn FnMut()> =
        ways.iter_mut().map(|way| way as &mut dyn FnMut()).collect();
    ways.push(&mut hashes);
    let times = timing::in_turns(9, &mut ways);
    let (alone, hashes) = (times[0], times[WAYS.len()]);
    println!("patches alone: {:.0} MB/s", log.len() as f64 / 1e6 / alone.as_secs_f64());
    for ((name, _), time) in WAYS.iter().zip(&times).skip(1) {
        println!("patches + {name}: {:.2}x patches alone", timing::ratio(*time, alone));
        if *name == "audit" {
            let ratio = timing::ratio(*time, alone + hashes);
            println!(
                "patches + {name}: {ratio:.2}x patches and the SHA-256 of the same lines and records (target <= 1.15)"
            );
        }
    }
}
