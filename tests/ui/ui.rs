//! Code that compiles without type annotations, and compiler messages for mistakes.
//!
//! The messages depend on the compiler version: `TRYBUILD=overwrite cargo test -p foldline-ui` updates them.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.pass("pass/*.rs");
    cases.compile_fail("fail/*.rs");
}
