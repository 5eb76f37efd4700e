//! The cost of reading and writing JSON, compared with other crates: `cargo run --release -- LOG..`.
//!
//! Every line of the logs is split into its fields, whose values stay text; and all patches of the logs are written.
//! Each figure is the median of rounds in turns, in one run.

use std::{
    env, fs,
    hint::black_box,
    time::{Duration, Instant},
};

use foldline_agents::{Records, Registry, wire::Object};
use foldline_domain::{DomainEvent, Located, locating, patch::PatchStream};
use foldline::{processor::Processor, transduce::{Batch, emit_fn, Transducer}};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// The number of runs of each way.
const ROUNDS: usize = 15;

fn main() {
    let paths: Vec<_> = env::args().skip(1).collect();
    let logs: Vec<_> = paths.iter().filter_map(|path| fs::read_to_string(path).ok()).collect();
    let lines: Vec<_> = logs.iter().flat_map(|log| log.lines()).collect();
    let objects: Vec<_> = lines.into_iter().filter(|line| Object::parse(line).is_ok()).collect();
    let bytes: usize = objects.iter().map(|line| line.len()).sum();
    println!("{} objects, {:.1} MB", objects.len(), bytes as f64 / 1e6);
    read(&objects, bytes);
    write(&logs);
}

/// Lines to fields whose values are text.
fn read(objects: &[&str], bytes: usize) {
    let each = |parse: &dyn Fn(&str)| objects.iter().for_each(|line| parse(line));
    let mut buffer = Vec::new();
    let mut buffers = simd_json::Buffers::default();
    let rows: &mut [(&str, &mut dyn FnMut())] = &mut [
        ("foldline, Object::parse", &mut || each(&|line| drop(black_box(Object::parse(line))))),
        ("serde_json, RawValue", &mut || each(&|line| drop(black_box(raw_values(line))))),
        ("sonic-rs, to_object_iter", &mut || each(&|line| drop(black_box(lazy_values(line))))),
        ("simd-json, tape, of a copy", &mut || {
            for line in objects {
                buffer.clear();
                buffer.extend_from_slice(line.as_bytes());
                black_box(simd_json::to_tape_with_buffers(&mut buffer, &mut buffers).is_ok());
            }
        }),
    ];
    table("splitting lines into fields", bytes, rows);
}

/// A field for each key, with the text of its value.
struct RawFields<'a>(#[expect(dead_code, reason = "only parsed")] Vec<(&'a str, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for RawFields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Vec<(&'de str, &'de RawValue)>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::with_capacity(12);
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(Fields).map(RawFields)
    }
}

fn raw_values(line: &str) -> Option<RawFields<'_>> {
    serde_json::from_str(line).ok()
}

fn lazy_values(line: &str) -> Vec<(std::borrow::Cow<'_, str>, sonic_rs::LazyValue<'_>)> {
    let mut fields = Vec::with_capacity(12);
    fields.extend(sonic_rs::to_object_iter(line).filter_map(Result::ok));
    fields
}

/// Patches to text.
fn write(logs: &[String]) {
    let mut records = Vec::new();
    let registry = Registry::builtin();
    for log in logs {
        let mut recogniser = registry.recogniser();
        for object in log.lines().take(50).filter_map(|line| Object::parse(line).ok()) {
            recogniser.observe(&foldline_agents::wire::Record::Object(object));
        }
        let Some(executor) = recogniser.verdict().format().and_then(|it| registry.named(it.name))
        else {
            continue;
        };
        let mut stream = PatchStream::default();
        let keep = emit_fn(|event: &Located<DomainEvent>| -> Batch<()> {
            records.extend(stream.record(event));
            Batch::EMPTY
        });
        let mut processor = Processor::new(Records, Transducer::new(locating(executor.clone()), keep));
        processor.push(log.as_bytes(), |()| {});
        processor.finish(|()| {});
    }
    let mut out = Vec::new();
    let bytes: usize = records.iter().map(|it| foldline_json::to_string(it).unwrap_or_default().len()).sum();
    println!("\n{} patches, {:.1} MB", records.len(), bytes as f64 / 1e6);
    let mut out_serde = Vec::new();
    let mut out_sonic = Vec::new();
    let rows: &mut [(&str, &mut dyn FnMut())] = &mut [
        ("foldline, foldline_json::append", &mut || {
            for record in &records {
                out.clear();
                black_box(foldline_json::append(&mut out, record).is_ok());
            }
        }),
        ("serde_json, to_writer", &mut || {
            for record in &records {
                out_serde.clear();
                black_box(serde_json::to_writer(&mut out_serde, record).is_ok());
            }
        }),
        ("sonic-rs, to_writer", &mut || {
            for record in &records {
                out_sonic.clear();
                black_box(sonic_rs::to_writer(&mut out_sonic, record).is_ok());
            }
        }),
    ];
    table("writing patches", bytes, rows);
}

/// Runs all ways in turns, and prints their times.
fn table(title: &str, bytes: usize, rows: &mut [(&str, &mut dyn FnMut())]) {
    println!("\n{title:<32} {:>8} {:>10}", "GB/s", "foldline=1");
    let mut times = vec![Vec::new(); rows.len()];
    for _ in 0..ROUNDS {
        for ((_, way), times) in rows.iter_mut().zip(&mut times) {
            let start = Instant::now();
            way();
            times.push(start.elapsed());
        }
    }
    let medians: Vec<Duration> = times
        .into_iter()
        .map(|mut times| {
            times.sort_unstable();
            times[times.len() / 2]
        })
        .collect();
    for ((name, _), time) in rows.iter().zip(&medians) {
        let seconds = time.as_secs_f64();
        let ratio = seconds / medians[0].as_secs_f64();
        println!("{name:<32} {:>8.2} {ratio:>9.2}x", bytes as f64 / 1e9 / seconds);
    }
}
