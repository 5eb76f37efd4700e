//! Bytes to serialised patches, compared with merely parsing the same lines. `cargo bench --bench summary` prints
//! these ratios and all other targets.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../../benches/common/mod.rs"]
mod common;

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use foldline_agents::wire::Record;

use self::common::{droid, product};

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
            black_box(record);
        });
    }
}

fn main() {
    let log = droid::log(BYTES, 1);
    let mut criterion = Criterion::default().configure_from_args().sample_size(10);
    let mut group = criterion.benchmark_group("droid");
    group.throughput(Throughput::Bytes(log.len() as u64));
    group.bench_function("parse_flat", |bencher| bencher.iter(|| parse_flat(&log)));
    group.bench_function("parse_typed", |bencher| bencher.iter(|| parse_typed(&log)));
    group.bench_function("events", |bencher| {
        bencher.iter(|| product::events("droid", log.as_bytes()));
    });
    group.bench_function("patches", |bencher| {
        bencher.iter(|| product::patches("droid", log.as_bytes()));
    });
    group.finish();
    criterion.final_summary();
}
