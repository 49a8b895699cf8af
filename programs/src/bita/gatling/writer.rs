//! Who keeps what was measured.

use raddle::actor::{Actor, Address, Context, ReplyTo};

use super::{Bug, Config, ToTerminator};

/// A response as it was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Whose.
    pub user: u32,
    /// To which request of the scenario.
    pub request: u32,
}

/// What a writer knows of a run at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How much was written.
    pub records: u32,
}

/// The messages to a writer.
#[derive(Debug)]
pub enum ToWriter {
    /// A run begins.
    Open,
    /// A response was measured.
    Write(Record),
    /// Nothing more will be measured.
    Flush {
        /// How many records there are in all.
        records: u32,
        /// Who wants to know that they are written.
        terminator: Address<ToTerminator>,
    },
    /// What came of it?
    Summarise(ReplyTo<Summary>),
}

/// Keeps records until it is told to write them.
#[derive(Debug)]
pub struct Writer {
    config: Config,
    open: bool,
    /// What was measured before this writer knew of the run.
    early: Vec<Record>,
    /// What was measured and not written yet; `None` before the run, and once everything is written.
    results: Option<Vec<Record>>,
    last: Option<(u32, Address<ToTerminator>)>,
    written: u32,
}

type Ctx<'a, 'b> = &'a mut Context<'b, ToWriter>;

impl Writer {
    /// One that waits for a run.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self { config, open: false, early: Vec::new(), results: None, last: None, written: 0 }
    }

    fn opened(&mut self, msg: ToWriter, ctx: Ctx<'_, '_>) {
        match msg {
            ToWriter::Open => ctx.unhandled(msg),
            ToWriter::Write(record) => {
                self.results.as_mut().expect("a run has no records after the last").push(record);
                self.flush_if_complete(ctx);
            }
            ToWriter::Flush { records, terminator } => {
                self.last = Some((records, terminator));
                self.flush_if_complete(ctx);
            }
            ToWriter::Summarise(reply) => {
                assert!(self.results.is_none(), "a summary is of what was written");
                reply.reply(Summary { records: self.written });
            }
        }
    }

    fn flush_if_complete(&mut self, ctx: Ctx<'_, '_>) {
        let Some((records, terminator)) = &self.last else { return };
        let complete = self.results.as_ref().is_some_and(|results| results.len() == *records as usize);
        if complete || self.config.has(Bug::FlushBeforeWrite) {
            let results = self.results.take().expect("a run is flushed once");
            self.written = u32::try_from(results.len()).expect("a run is not that long");
            ctx.send(terminator, ToTerminator::Flushed);
        }
    }
}

impl Actor for Writer {
    type Msg = ToWriter;

    fn handle(&mut self, msg: ToWriter, ctx: &mut Context<'_, ToWriter>) {
        match msg {
            ToWriter::Open if !self.open => {
                self.open = true;
                ctx.becomes("open");
                self.results = Some(std::mem::take(&mut self.early));
                self.flush_if_complete(ctx);
            }
            msg if self.open => self.opened(msg, ctx),
            ToWriter::Write(record) if !self.config.has(Bug::WriteBeforeOpen) => self.early.push(record),
            ToWriter::Flush { records, terminator } => self.last = Some((records, terminator)),
            msg => ctx.unhandled(msg),
        }
    }

    fn label(msg: &ToWriter) -> &'static str {
        match msg {
            ToWriter::Open => "Open",
            ToWriter::Write(_) => "Write",
            ToWriter::Flush { .. } => "Flush",
            ToWriter::Summarise(_) => "Summarise",
        }
    }
}
