//! Statements: where in the source something is done, and what.
//!
//! A place is known by its file, line and column, so that it is the same in the next build. What is done there belongs to it, as
//! one line may do several things (a wait gives its lock back and takes it again). So do the calls that led there, if the program
//! was asked for them.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use raddle_engine::trace::{Context, Operation, Site};

/// One statement of the program, in words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Statement {
    /// The source file, as the compiler calls it.
    pub file: String,
    /// Its line, from 1.
    pub line: u32,
    /// Its column, from 1.
    pub column: u32,
    /// What is done there.
    pub verb: String,
    /// The calls that led there, the innermost first, as many as were asked for.
    #[serde(default)]
    pub calls: Vec<String>,
}

/// A statement, by its place in the table of this search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StatementId(u32);

impl StatementId {
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }

    pub(super) fn next_of(len: usize) -> Self {
        Self(u32::try_from(len).expect("raddle bug: more than 2^32 statements"))
    }
}

/// The statements that are known.
#[derive(Debug, Default)]
pub(super) struct Statements {
    all: Vec<Known>,
    by_words: HashMap<Statement, StatementId>,
    /// By the addresses of site, operation and context, of which there may be several for one statement.
    by_address: HashMap<Addresses, StatementId>,
    /// The latest of those, each at a place that follows from the addresses: one that comes to the place of another takes it.
    latest: Vec<Option<(Addresses, StatementId)>>,
}

/// Of a site, an operation and a context; 0 for none.
type Addresses = (usize, usize, usize);

/// How many places there are for the latest statements: a power of two.
const PLACES: usize = 256;

/// Where the statement of these addresses is, if it is one of the latest.
fn place(of: Addresses) -> usize {
    let mixed = (of.0 ^ of.1.rotate_left(20) ^ of.2.rotate_left(40)) as u64;
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize % PLACES
}

#[derive(Debug)]
struct Known {
    statement: Statement,
    /// It was seen in this search, and is not only known from earlier ones.
    met: bool,
}

impl Statements {
    /// The statement that does `op` at `site`, where these calls have led to.
    pub(super) fn of(&mut self, site: Site, op: &'static Operation, context: Option<&'static Context>) -> StatementId {
        let context_address = context.map_or(0, |context| std::ptr::from_ref(context).addr());
        let key = (std::ptr::from_ref(site).addr(), std::ptr::from_ref(op).addr(), context_address);
        if self.latest.is_empty() {
            self.latest.resize(PLACES, None);
        }
        let place = place(key);
        if let Some((of, id)) = self.latest[place]
            && of == key
        {
            return id;
        }
        let id = match self.by_address.get(&key) {
            Some(&id) => id,
            None => self.meet_first(site, op, context, key),
        };
        self.latest[place] = Some((key, id));
        id
    }

    #[cold]
    fn meet_first(
        &mut self,
        site: Site,
        op: &'static Operation,
        context: Option<&'static Context>,
        key: Addresses,
    ) -> StatementId {
        let id = self.known(Statement {
            file: site.file().to_owned(),
            line: site.line(),
            column: site.column(),
            verb: op.verb.to_owned(),
            calls: context.map(|context| context.calls.clone()).unwrap_or_default(),
        });
        self.all[id.index()].met = true;
        self.by_address.insert(key, id);
        id
    }

    /// The place of a statement, which it is given if it has none yet.
    pub(super) fn known(&mut self, statement: Statement) -> StatementId {
        if let Some(&id) = self.by_words.get(&statement) {
            return id;
        }
        let id = StatementId::next_of(self.all.len());
        self.by_words.insert(statement.clone(), id);
        self.all.push(Known { statement, met: false });
        id
    }

    /// It was seen in this search, if not here.
    pub(super) fn meet(&mut self, id: StatementId) {
        self.all[id.index()].met = true;
    }

    /// A statement, and whether it was met in this search.
    pub(super) fn get(&self, id: StatementId) -> (&Statement, bool) {
        let Known { statement, met } = &self.all[id.index()];
        (statement, *met)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// All of them, and whether each was met in this search.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Statement, bool)> {
        self.all.iter().map(|known| (&known.statement, known.met))
    }
}
