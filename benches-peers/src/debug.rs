//! What a plain `cargo test` costs: the same comparison in a build of the dev profile, with no setting of any profile.

use crate::apart::{Answer, Order};
use crate::experiment::{Comparison, Metric};
use crate::library::Missing;
use crate::measure::{Effort, Figure};
use crate::programs::Program;
use crate::searcher::Searcher;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// One thread sends ten numbers to another.
pub const PROGRAM: Program = Program::Ring(10);

const EXECUTIONS: u64 = 10_000;

/// CPU time of all executions together.
pub fn compare(effort: &Effort) -> Comparison {
    let searchers = [Searcher::Raddle("random"), Searcher::ShuttleRandom];
    let mut lowest: Vec<Figure> = vec![Ok(f64::INFINITY); searchers.len()];
    match build() {
        Ok(build) => {
            for _ in 0..effort.rounds {
                for (searcher, lowest) in searchers.into_iter().zip(&mut lowest) {
                    let Ok(before) = *lowest else { continue };
                    *lowest = run(searcher, &build).map(|answer| before.min(answer.cpu.as_secs_f64() * 1e3));
                }
            }
        }
        Err(missing) => lowest.fill(Err(missing)),
    }
    let columns: &[&str] = &["random, dev", "shuttle, dev"];
    Comparison { program: format!("{PROGRAM} × {EXECUTIONS}"), metric: Metric::CpuMs, columns, figures: lowest }
}

/// Builds this program in the dev profile, and says where it is.
fn build() -> Result<PathBuf, Missing> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--manifest-path"])
        .arg(here.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(here.join("target"))
        .status();
    match status {
        Ok(status) if status.success() => Ok(here.join("target/debug/benches-peers")),
        other => {
            let reason = format!("not built: the build in the dev profile failed ({other:?})");
            Err(Missing { label: "not built".into(), reason })
        }
    }
}

fn run(searcher: Searcher, build: &Path) -> Result<Answer, Missing> {
    let order = Order {
        searcher,
        program: PROGRAM,
        workers: 1,
        executions: EXECUTIONS,
        time: Duration::from_secs(120),
        at_least: Duration::ZERO,
    };
    if let Some(missing) = searcher.obstacle(PROGRAM) {
        return Err(missing);
    }
    let broke_down = |reason| Missing { label: "broke down".into(), reason: format!("broke down: {reason}") };
    let answer = order.carry_out_by(build).map_err(broke_down)?;
    if answer.counted.executions != EXECUTIONS {
        return Err(broke_down(format!("{searcher} ran {} executions", answer.counted.executions)));
    }
    Ok(answer)
}
