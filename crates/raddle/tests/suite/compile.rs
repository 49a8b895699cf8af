//! What the attribute refuses, and how.

#[test]
fn refused() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
