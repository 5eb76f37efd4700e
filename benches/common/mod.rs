//! Shared by the benches: generated logs with a fixed seed, the parse floor, and paired timing.
#![allow(dead_code, missing_docs, unreachable_pub, clippy::expect_used)]

pub mod claude;
pub mod droid;
pub mod product;

pub mod timing;

/// A small, fixed generator of pseudo-random numbers (SplitMix64): the same log on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Lines of code-like text, about `bytes` long: with the quotes, tabs and line ends of real files.
    pub fn text(&mut self, bytes: u64) -> String {
        const WORDS: [&str; 16] = [
            "let",
            "value",
            "=",
            "self.items",
            ".iter()",
            ".map(|x|",
            "\"a string\"",
            "return",
            "// why",
            "{",
            "}",
            "\t",
            "Result<(), Error>",
            "path/to/file.rs",
            "café",
            "for each",
        ];
        let mut text = String::new();
        while (text.len() as u64) < bytes {
            text.push_str(WORDS[self.below(16) as usize]);
            text.push(if self.below(8) == 0 { '\n' } else { ' ' });
        }
        text
    }
}
