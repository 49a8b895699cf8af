//! `cargo xtask oldest`: whether Raddle builds with the oldest versions of its dependencies that `Cargo.toml` allows.
//!
//! A crate under `target/oldest` depends on `raddle` as the crate of a user does, so dev-dependencies take no part. It also depends on exactly
//! the versions that `[workspace.dependencies]` names. Everything else keeps the version of the workspace's lock file.
//!
//! The build uses the oldest supported Rust if it is installed. If not, it uses the one that is there and says so; what of the standard library
//! is too new is then left to the lint `incompatible_msrv`, which `check` runs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{ROOT, run, say};

/// Builds the libraries so.
pub fn build() -> Result<(), String> {
    let manifest = read("Cargo.toml")?;
    let mut used = BTreeSet::new();
    let crates = fs::read_dir(Path::new(ROOT).join("crates")).map_err(|error| format!("crates: {error}"))?;
    for entry in crates.flatten() {
        let name = entry.file_name();
        used.extend(used_by(&read(&format!("crates/{}/Cargo.toml", name.to_string_lossy()))?));
    }
    let dir = Path::new(ROOT).join("target/oldest");
    let written = write(&dir.join("Cargo.toml"), &user_manifest(&pins(&manifest, &used)?))
        .and_then(|()| write(&dir.join("src/lib.rs"), ""))
        .and_then(|()| write(&dir.join("Cargo.lock"), &read("Cargo.lock")?));
    written?;
    let rust = value(&manifest, "rust-version").ok_or("Cargo.toml has no rust-version")?;
    let mut cargo = if has_rust(rust) {
        let mut cargo = Command::new("rustup");
        cargo.args(["run", rust, "cargo"]);
        cargo
    } else {
        say(&format!("Rust {rust} is not installed, so the oldest dependencies are built with the Rust that is"));
        Command::new("cargo")
    };
    run(cargo.args(["check", "--manifest-path"]).arg(dir.join("Cargo.toml")))
}

fn has_rust(version: &str) -> bool {
    let told = Command::new("rustup").args(["run", version, "rustc", "--version"]).output();
    told.is_ok_and(|told| told.status.success())
}

/// The manifest of a crate that uses `raddle`, with these dependencies at exactly these versions.
fn user_manifest(pins: &[(&str, &str)]) -> String {
    let head = "[package]\nname = \"oldest\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
                raddle = { path = \"../../crates/raddle\" }\n";
    let pin =
        |(name, version): &(&str, &str)| format!("{name} = {{ version = \"={version}\", default-features = false }}\n");
    head.to_owned() + &pins.iter().map(pin).collect::<String>()
}

/// The names in the dependencies of a crate, without those that are for its tests.
fn used_by(manifest: &str) -> Vec<String> {
    let wanted = |section: &str| section.ends_with("dependencies]") && !section.contains("dev-");
    let names = lines(manifest, wanted).filter_map(|line| line.split(['.', ' ', '=']).next());
    names.map(str::to_owned).collect()
}

/// The oldest version of each dependency from outside that libraries use.
fn pins<'m>(manifest: &'m str, used: &BTreeSet<String>) -> Result<Vec<(&'m str, &'m str)>, String> {
    let mut pins = Vec::new();
    for line in lines(manifest, |section| section == "[workspace.dependencies]") {
        let Some((name, rest)) = line.split_once(" = ") else { continue };
        let version = if rest.starts_with('"') { rest.split('"').nth(1) } else { value(rest, "version") };
        let Some(version) = version.filter(|_| used.contains(name)) else { continue };
        if version.split('.').count() != 3 {
            return Err(format!(
                "Cargo.toml: write all three numbers of the oldest {name} that works, not `{version}`"
            ));
        }
        pins.push((name, version));
    }
    Ok(pins)
}

/// The lines of the sections that are wanted.
fn lines<'m>(manifest: &'m str, wanted: impl Fn(&str) -> bool + 'm) -> impl Iterator<Item = &'m str> + 'm {
    let mut inside = false;
    manifest.lines().filter(move |line| {
        if line.starts_with('[') {
            inside = wanted(line);
            return false;
        }
        inside && !line.trim().is_empty() && !line.starts_with('#')
    })
}

/// What is written between quotes after `key = `.
fn value<'m>(text: &'m str, key: &str) -> Option<&'m str> {
    text.split_once(&format!("{key} = \""))?.1.split('"').next()
}

fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(Path::new(ROOT).join(path)).map_err(|error| format!("{path}: {error}"))
}

/// Writes the file unless it has this text already, so that nothing is built twice.
fn write(path: &Path, text: &str) -> Result<(), String> {
    let error = |error| format!("{}: {error}", path.display());
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, text)).map_err(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKSPACE: &str = "[workspace.package]\nrust-version = \"1.89\"\n\n[workspace.dependencies]\nraddle = { path = \"crates/raddle\" }\n\
                             serde = { version = \"1.0.200\", features = [\"derive\"] }\ninsta = \"1\"\nquote = \"1.0.35\"\n\n[lints]\nsyn = \"3\"\n";

    #[test]
    fn what_libraries_use_is_pinned_to_the_version_that_is_written() {
        let of_a_crate = "[dependencies]\nserde.workspace = true\nraddle.workspace = true\n\n[target.\"cfg(unix)\".dependencies]\n\
                          quote = { workspace = true }\n\n[dev-dependencies]\ninsta.workspace = true\n";
        let used: BTreeSet<_> = used_by(of_a_crate).into_iter().collect();
        assert_eq!(pins(WORKSPACE, &used), Ok(vec![("serde", "1.0.200"), ("quote", "1.0.35")]));
        assert_eq!(value(WORKSPACE, "rust-version"), Some("1.89"));
    }

    #[test]
    fn a_version_without_all_its_numbers_is_refused() {
        let error = pins(WORKSPACE, &BTreeSet::from(["insta".to_owned()])).unwrap_err();
        assert_eq!(error, "Cargo.toml: write all three numbers of the oldest insta that works, not `1`");
    }
}
