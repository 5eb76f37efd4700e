//! Bytes to serialised patches, beside what it costs to merely parse the same lines.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::{hint::black_box, io::Write};

use criterion::{Criterion, Throughput};
use foldline::{
    conversation::{DomainEvent, Sourced, with_source},
    emitters::patch::PatchStream,
    executors::{Executor, Format, droid::DroidLine, wire::Record},
    processor::Processor,
    transduce::{Batch, Transducer, emit_fn},
};

use self::common::{droid, timing};

const BYTES: usize = 20 << 20;

/// The parse floor: each line into a flat struct with owned strings.
fn parse_flat(log: &str) {
    for line in log.lines() {
        black_box(serde_json::from_str::<droid::Flat>(line).unwrap());
    }
}

/// Each line into its wire type.
fn parse_typed(log: &str) {
    for line in log.lines() {
        Record::read(line, |_, record| {
            black_box(DroidLine::from(record));
        });
    }
}

/// Up to the events.
fn events(log: &str) {
    let executor = Executor::of(Format::Droid).unwrap();
    let look = emit_fn(|event: &Sourced<DomainEvent>| -> Batch<()> {
        black_box(event);
        Batch::EMPTY
    });
    let mut processor = Processor::new(Transducer::new(with_source(executor), look));
    for chunk in log.as_bytes().chunks(256 << 10) {
        processor.push(chunk, |()| {});
    }
    processor.finish(|()| {});
}

/// The whole way, as `foldline replay --format patches` goes it.
fn patches(log: &str) {
    let executor = Executor::of(Format::Droid).unwrap();
    let mut stream = PatchStream::default();
    let mut out = Vec::with_capacity(1 << 20);
    let write = emit_fn(|event: &Sourced<DomainEvent>| -> Batch<()> {
        if let Some(record) = stream.record(event) {
            serde_json::to_writer(&mut out, &record).unwrap();
            out.write_all(b"\n").unwrap();
        }
        if out.len() > 1 << 19 {
            black_box(&out);
            out.clear();
        }
        Batch::EMPTY
    });
    let mut processor = Processor::new(Transducer::new(with_source(executor), write));
    for chunk in log.as_bytes().chunks(256 << 10) {
        processor.push(chunk, |()| {});
    }
    processor.finish(|()| {});
}

fn main() {
    let log = droid::log(BYTES, 1);
    let mut criterion = Criterion::default().configure_from_args().sample_size(10);
    let mut group = criterion.benchmark_group("droid");
    group.throughput(Throughput::Bytes(log.len() as u64));
    group.bench_function("parse_flat", |bencher| bencher.iter(|| parse_flat(&log)));
    group.bench_function("parse_typed", |bencher| bencher.iter(|| parse_typed(&log)));
    group.bench_function("events", |bencher| bencher.iter(|| events(&log)));
    group.bench_function("patches", |bencher| bencher.iter(|| patches(&log)));
    group.finish();
    criterion.final_summary();

    let times = timing::in_turns(
        9,
        &mut [
            &mut || parse_flat(&log),
            &mut || parse_typed(&log),
            &mut || events(&log),
            &mut || patches(&log),
        ],
    );
    let lines = log.lines().count();
    println!(
        "droid, {} lines of {} bytes: typed parse {:.2}x, bytes to events {:.2}x, bytes to patches {:.2}x the parse floor ({:.0} MB/s)",
        lines,
        log.len() / lines,
        timing::ratio(times[1], times[0]),
        timing::ratio(times[2], times[0]),
        timing::ratio(times[3], times[0]),
        log.len() as f64 / 1e6 / times[3].as_secs_f64(),
    );
}
