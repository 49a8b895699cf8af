//! `docs/evaluation.md` and its pictures. Each command owns one section of the page, between two marks, and leaves the others as
//! they are.

use std::fs;
use std::io::{Error, ErrorKind};
use std::path::Path;

/// What the page is called in the folder that is written to; its pictures are in a folder of the same name.
const PAGE: &str = "evaluation";

/// How a page begins that is written for the first time.
const HEAD: &str = "# Evaluation\n\nWhat the strategies find, and how fast, beside what the papers report. Every section is \
                    written by the command it names; what stands between its marks is replaced by the next run.\n";

/// Makes the folders that sections are written into.
pub fn prepare(folder: &Path) -> Result<(), Error> {
    let pictures = folder.join(PAGE);
    fs::create_dir_all(&pictures).map_err(|error| named(&pictures, error))
}

/// A section with its pictures.
pub struct Section {
    /// The command that writes it.
    pub name: &'static str,
    /// As Markdown. Pictures are at `evaluation/NAME.svg`.
    pub text: String,
    /// Name and content.
    pub pictures: Vec<(String, String)>,
}

impl Section {
    /// Writes the section and its pictures into `folder`, which was [prepared](prepare).
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        for (name, content) in &self.pictures {
            let path = folder.join(PAGE).join(format!("{name}.svg"));
            fs::write(&path, content).map_err(|error| named(&path, error))?;
        }
        let path = folder.join(format!("{PAGE}.md"));
        let page = match fs::read_to_string(&path) {
            Ok(page) => page,
            Err(error) if error.kind() == ErrorKind::NotFound => HEAD.to_owned(),
            Err(error) => return Err(named(&path, error)),
        };
        fs::write(&path, self.put_into(&page)).map_err(|error| named(&path, error))
    }

    /// The page with this section in its old place, or at the end.
    fn put_into(&self, page: &str) -> String {
        let (begin, end) = (format!("<!-- {}: begin -->", self.name), format!("<!-- {}: end -->", self.name));
        let section = format!("{begin}\n{}\n{end}", self.text.trim());
        match (page.find(&begin), page.find(&end)) {
            (Some(from), Some(to)) if from < to => format!("{}{section}{}", &page[..from], &page[to + end.len()..]),
            _ => format!("{}\n\n{section}\n", page.trim_end()),
        }
    }
}

fn named(path: &Path, error: Error) -> Error {
    Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(name: &'static str, text: &str) -> Section {
        Section { name, text: text.to_owned(), pictures: Vec::new() }
    }

    #[test]
    fn a_section_is_replaced_and_the_others_stay() {
        let page = section("a", "first").put_into("# Page\n");
        assert_eq!(page, "# Page\n\n<!-- a: begin -->\nfirst\n<!-- a: end -->\n");
        let page = section("b", "second").put_into(&page);
        let page = section("a", "third").put_into(&page);
        assert_eq!(
            page,
            "# Page\n\n<!-- a: begin -->\nthird\n<!-- a: end -->\n\n<!-- b: begin -->\nsecond\n<!-- b: end -->\n"
        );
    }
}
