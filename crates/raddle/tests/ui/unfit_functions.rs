#[raddle::test]
async fn asynchronous() {}

#[raddle::test]
fn with_an_argument(_: u32) {}

#[raddle::test]
#[test]
fn twice() {}

#[raddle::test(seed = 1.5)]
fn not_a_whole_number() {}

fn main() {}
