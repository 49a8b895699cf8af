use raddle::Explorer;
use raddle::actor::{Actor, Context};
use raddle::model::Model;

#[derive(Clone, Hash)]
struct Twice(u32);

impl Actor for Twice {
    type Msg = ();

    fn handle(&mut self, (): (), ctx: &mut Context<'_, ()>) {
        self.0 += 1;
        assert!(self.0 < 2, "twice is too often");
        ctx.send(&ctx.me(), ());
    }
}

#[test]
fn a_file_with_the_name_of_one_of_raddles_files() {
    let model = || {
        Model::new(|m| {
            let twice = m.spawn(Twice(0));
            m.send(&twice, ());
        })
    };
    let report = Explorer::new().run_model(model).to_string();
    let told: Vec<&str> = report.split_whitespace().filter(|word| word.contains("model.rs:")).collect();
    // The place of the panic in full, then that of the two sends and of the panic in the table.
    assert!(told.len() == 4 && told[1..].iter().all(|place| place.starts_with("model.rs:")), "{report}");
}
