//! What compiles without a type annotation, and what the compiler says about mistakes.
//!
//! The messages are those of one compiler: `TRYBUILD=overwrite cargo test -p foldline-ui` renews them.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.pass("pass/*.rs");
    cases.compile_fail("fail/*.rs");
}
