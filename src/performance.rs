//! Where the time goes, and how to measure it.
//!
//! # How a byte travels
//!
//! A line is found with `memchr`, checked once for UTF-8, and scanned once into an
//! [`Object`](crate::executors::wire::Object): its keys, and for each the *text* of its value
//! ([`Raw`](crate::json::Raw)). The scanner looks at 64 bytes at a time for the quotes that end a
//! string; it takes exactly what `serde_json` takes, which is asked about everything that the scanner
//! does not take (and both are held against each other by properties and by a fuzzer). Nothing is
//! copied or decoded, and a nested object is not checked again when it is taken apart: what is not asked
//! for is skipped from bracket to bracket, a long string by a search for its quote. The executor takes the
//! few fields that it looks at; what it only passes on, which is most of the bytes, becomes a
//! [`Text`](crate::conversation::Text): the JSON literal as it stood in the line, copied once. The
//! entry that it becomes a part of is shared by everybody who keeps it: the event, the open call in the
//! reducer's state, the patch. [`json`](crate::json) writes the literal into the output as it is.
//!
//! So a file's content in a tool result is scanned once, copied twice, and never unescaped. Edits and patch texts
//! are compared and taken apart line by line as they are spelt ([`Spelling`](crate::conversation::Spelling)), so that
//! neither they nor their diffs are unescaped or escaped; the exceptions are texts with codes such as `\u00e9`, and
//! paths, which are looked at.
//!
//! Memory follows what is open: the calls without a result, the entries that still grow, and the ids
//! of the last calls that ended.
//!
//! # The table
//!
//! `cargo bench -p foldline-cli --bench whole` prints it: whole runs of the program, from start to exit, beside what
//! others need for the same, in turns; in CPU time on one core, which is what a server and a battery pay, and in time
//! on all cores. On two cores of an AMD EPYC (Linux, 100 MB logs):
//!
//! | work | one core, CPU | two cores, time |
//! | --- | --- | --- |
//! | Droid, patches / parse floor | 1.3 to 1.7 | 0.7 to 1.0 |
//! | Droid, transcript / patches | 1.3 to 1.4 | 1.4 |
//! | Droid, one document / parse floor | 2.0 to 2.3 | 1.7 to 2.0 |
//! | Droid, patches with an audit trail / patches | 1.9 | 2.3 |
//! | of which SHA-256 | 0.53 | 1.0 |
//! | Claude Code with partial messages, patches / parse floor | 1.9 | 0.8 |
//! | ingest / the same rows inserted by SQLite alone, as durably | 1.8 | 1.2 |
//! | `usage` / `ccusage` | 0.60 | 0.47 |
//! | start, in ms | 1.7 to 2.4 | 1.7 to 2.4 |
//!
//! The document differs from run to run by what the system needs to clear 130 MB of fresh memory. An audit trail cannot
//! cost less than its digests, for which the processor has instructions.
//!
//! The parse floor is what it costs `serde_json` to parse each line in memory into structs with owned strings: what
//! others pay before they have done anything. It is built like the program; with link-time optimisation it takes 0.92 of
//! that. The more of a log's calls are edits, whose diffs are made, the more patches cost beside it.
//!
//! `--bench summary` has the cost of the framework, of streamed text and long lines, memory and latency; `--bench
//! fanout` the cost of each further consumer, `--bench query` that of every query beside the shell of SQLite, `--bench
//! transduce` the framework round a step of 20 ns, and `--bench droid` the throughput under `criterion`.
//!
//! Of the instructions from Droid's bytes to patches, a third take lines and values apart, a seventh write JSON, a
//! fifteenth each copies bytes and searches them, a twentieth allocates; the executor, its calls, sessions and diffs take
//! an eighth, and no function more than a tenth. Of a stream of Claude Code two fifths take lines apart: three or four
//! nested objects for 500 bytes.
//!
//! # Growth
//!
//! `cargo bench -p foldline-cli --bench growth` measures every verb over 1 to 100,000 kilobytes, entries, sessions,
//! failures, files, open calls, and sessions that repeat each other, and draws `docs/growth.svg`, with the machine that
//! it ran on: from its best point on, no unit costs half again as much, except where an answer takes more than 200 MiB,
//! as the system has to clear that memory, and beyond the limit of open calls, since those become errors.
//!
//! A file of an ingest costs a tenth of a millisecond, and a session about a microsecond: its start is an event too, so a
//! log in which every line begins a session has twice the events, and takes twice the time. So it is beyond the
//! [limits](crate::conversation::tool_calls::Limits) of open calls: the oldest end as unfinished, and their results come
//! as entries of their own.
//!
//! Allocations are not timed but counted, in `tests/transduce_alloc.rs`: a step that gives no event or
//! one allocates nothing.
//!
//! # Why JSON is read and written here
//!
//! Beside crates that do the same, one thread of a small server, in gigabytes a second: every line of 81 real
//! logs of all formats is taken apart into its fields, whose values stay text; and their patches are written
//! (`cargo run --release -- LOG..` in `benches/json`).
//!
//! | taking lines apart | real logs | a log of long lines |
//! | --- | --- | --- |
//! | [`Object::parse`](crate::wire::Object::parse) | 3.5 | 4.7 |
//! | `serde_json`, `RawValue` | 1.9 | 1.9 |
//! | `sonic-rs`, `to_object_iter` | 1.7 | 1.7 |
//! | `simd-json`, tape | 1.8 | 1.7 |
//!
//! | writing patches | real logs | a log of long lines |
//! | --- | --- | --- |
//! | [`json::append`](crate::json::append) | 4.6 | 2.0 |
//! | `serde_json::to_writer` | 2.5 | 1.5 |
//! | `sonic_rs::to_writer` | 1.8 | 1.3 |
//!
//! With `serde_json` in place of its own writer, the program as `release` builds it takes 7 to 10 % longer from
//! bytes to patches, and 8 to 12 % more of the processors.
//!
//! # Two threads
//!
//! `foldline replay` reads a log on two threads ([`Processor::relay`](crate::processor::Processor::relay)), which
//! exchange neither lines nor events. Each takes the next 256 KiB through all stages: it reads and splits them, parses
//! the records, reduces them, and emits the events. Only reading, reducing and emitting need their turn, and what a
//! turn passes on is the state. An executor has the two halves apart
//! ([`Preparsed`](crate::executors::Preparsed)): what a record says is found out before its
//! turn, and what it means in it.
//!
//! Beside one thread, that takes 0.5 to 0.6 of the time for patches, and 0.95 to 1.1 times the processors'. Where
//! parsing waits for the turn of reducing, it takes 0.8 of the time and 1.3 to 1.5 times the processors': a thread
//! that waits looks for its turn for some microseconds before it sleeps, as sleeping and waking costs more.
//!
//! A record is ten small allocations, which are freed soon and by the thread that made them. The allocator of glibc
//! takes a fifth to two fifths more of the processors for all of it than `mimalloc`, which the program uses, unless it is
//! built without that feature. The price is memory, for long lines only: see the table of limits in `tests/README.md`.
//! With `jemalloc` it is as fast and takes no more memory, and a third longer to build.
//!
//! # An ingest
//!
//! One connection writes, so an ingest takes as long as the mere insertion of its rows, at least. It is within a sixth
//! of that: rows are added table by table, so that what SQLite needs for one stays in the processor's cache; a
//! transaction has 16 MiB of logs, in which a page of an index that is changed again and again is written once; and
//! SQLite does not look up the rows that others refer to, which their transaction has found already. What is left is
//! that the rows come from the cache of another core.
//!
//! # What does not pay
//!
//! A thread for a stage. On a server whose cores share no cache, a piece of memory of 64 bytes is with the other
//! core after 0.2 microseconds, and a line of a log with its fields is ten to twenty of them: lines that are framed
//! and scanned ahead by one thread for another, and patches that are written behind, take as long as on one thread,
//! and a quarter more of the processors. So does a transcript that is formatted behind.
//!
//! Stages for many lines at once, so that each stage stays in the cache of instructions: what a line allocates then
//! leaves the cache of data. Quotes of a whole kibibyte found at once, before they are asked for: 2 to 4 % more work, as
//! most lines are short. An ingest that syncs its last commit only: as fast, as the disk is waited for while the other
//! thread reads. A larger cache for the pages of the database than 16 MiB: 2 % less time, for as much memory as it is
//! larger. A larger table of words before they are written to the search index: nothing.
//!
//! Optimisation level 3: 1 % faster. The program, not the library, compiled in several units: 6 % less work for the
//! compiler, and up to 3.4 % more for the program, as the writer of JSON finds its buffer's methods in another unit. Its
//! pieces as calls, so that less is compiled: 6 % more. Verbs that are not inlined: no faster to compile.
//!
//! The library compiled in four units: 5 seconds less to build, and 9 % more for the program. Version 3 of `mimalloc`:
//! nothing. Of a block's quotes, fewer instructions by a quarter of its state: 2 % of the scanner's time.
//!
//! Nested objects scanned together with their line, as members behind their own: 3 % less time for the streams of Claude
//! Code, 6 % more for its session files, as each search steps over members that are not asked for. Quotes found with the
//! instructions of AVX2 where the processor has them: 1 to 2 % for the streams of Claude Code, nothing for others.
//!
//! Fewer instructions are not less time by themselves: for the streams of Claude Code, 5 % fewer took 2 % less time, and
//! 1 % fewer took 3 % less, where messages went into a box and smaller values were moved.
