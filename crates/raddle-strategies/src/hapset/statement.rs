//! Statements: a place in the source, and the operation there.
//!
//! A place is identified by file, line and column, so that it is the same in the next build. The operation is part of the statement,
//! because one line may do several things (a wait on a condition variable releases the lock and acquires it again). So are the calls that
//! led to the place, if the program records them.

use std::collections::HashMap;

use raddle_engine::trace::{Context, Operation, Site};
use serde::{Deserialize, Serialize};

/// One statement of the program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Statement {
    /// The source file, as the compiler calls it.
    pub file: String,
    /// Its line, from 1.
    pub line: u32,
    /// Its column, from 1.
    pub column: u32,
    /// The operation.
    pub verb: String,
    /// The calls that led there, innermost first, as many as the program records.
    #[serde(default)]
    pub calls: Vec<String>,
}

/// A statement, by its index in the table of this search.
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

/// The known statements.
#[derive(Debug, Default)]
pub(super) struct Statements {
    all: Vec<StatementRecord>,
    by_value: HashMap<Statement, StatementId>,
    /// By the addresses of site, operation and context. One statement may have several such keys.
    by_address: HashMap<Addresses, StatementId>,
    /// The most recent of those: a direct-mapped cache, indexed by a hash of the key.
    latest: Vec<Option<(Addresses, StatementId)>>,
}

/// The addresses of a site, an operation and a context; 0 for none.
type Addresses = (usize, usize, usize);

/// The size of the cache: a power of two.
const CACHE_SIZE: usize = 256;

/// The cache index of a key.
fn place(of: Addresses) -> usize {
    let mixed = (of.0 ^ of.1.rotate_left(20) ^ of.2.rotate_left(40)) as u64;
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize % CACHE_SIZE
}

#[derive(Debug)]
struct StatementRecord {
    statement: Statement,
    /// True if this search has executed it; false if it is only known from earlier searches.
    seen: bool,
}

impl Statements {
    /// Returns the statement that executes `op` at `site`, called from `context`.
    pub(super) fn of(&mut self, site: Site, op: &'static Operation, context: Option<&'static Context>) -> StatementId {
        let context_address = context.map_or(0, |context| std::ptr::from_ref(context).addr());
        let key = (std::ptr::from_ref(site).addr(), std::ptr::from_ref(op).addr(), context_address);
        if self.latest.is_empty() {
            self.latest.resize(CACHE_SIZE, None);
        }
        let place = place(key);
        if let Some((of, id)) = self.latest[place]
            && of == key
        {
            return id;
        }
        let id = match self.by_address.get(&key) {
            Some(&id) => id,
            None => self.register(site, op, context, key),
        };
        self.latest[place] = Some((key, id));
        id
    }

    #[cold]
    fn register(
        &mut self,
        site: Site,
        op: &'static Operation,
        context: Option<&'static Context>,
        key: Addresses,
    ) -> StatementId {
        let id = self.intern(Statement {
            file: site.file().to_owned(),
            line: site.line(),
            column: site.column(),
            verb: op.verb.to_owned(),
            calls: context.map(|context| context.calls.clone()).unwrap_or_default(),
        });
        self.all[id.index()].seen = true;
        self.by_address.insert(key, id);
        id
    }

    /// Returns the id of a statement, and adds the statement if it is not in the table.
    pub(super) fn intern(&mut self, statement: Statement) -> StatementId {
        if let Some(&id) = self.by_value.get(&statement) {
            return id;
        }
        let id = StatementId::next_of(self.all.len());
        self.by_value.insert(statement.clone(), id);
        self.all.push(StatementRecord { statement, seen: false });
        id
    }

    /// Records that this search has executed the statement, possibly in another worker.
    pub(super) fn mark_seen(&mut self, id: StatementId) {
        self.all[id.index()].seen = true;
    }

    /// A statement, and whether this search has executed it.
    pub(super) fn get(&self, id: StatementId) -> (&Statement, bool) {
        let StatementRecord { statement, seen } = &self.all[id.index()];
        (statement, *seen)
    }

    /// How many statements are known.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// All statements, and whether this search has executed each.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Statement, bool)> {
        self.all.iter().map(|known| (&known.statement, known.seen))
    }
}
