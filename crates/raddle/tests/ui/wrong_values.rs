#[raddle::test(strategy = "dporr")]
fn no_such_strategy() {}

#[raddle::test(strategy = "pct:4294967295")]
fn too_deep() {}

#[raddle::test(strategy = 7)]
fn no_name() {}

#[raddle::test(time = "3 weeks")]
fn no_such_unit() {}

#[raddle::test(executions = 0)]
fn nothing_to_run() {}

#[raddle::test(seed = "x")]
fn no_number() {}

#[raddle::test(resume = "yes")]
fn neither_true_nor_false() {}

fn main() {}
