//! Examples that check themselves.

#[path = "../examples/palcode.rs"]
mod palcode;

#[test]
fn palcode() {
    palcode::main().expect("it runs");
}
