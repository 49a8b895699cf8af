#[raddle::test(strategies = "pct")]
fn wrong() {}

fn main() {}
