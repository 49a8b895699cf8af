//! From the settings of a test to its report: saved schedules run first, then the search, and then the failing order once more.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use raddle_engine::board::Remains;
use raddle_engine::coverage::Coverage;
use raddle_engine::facts::Fact;
use raddle_engine::outcome::{Failure, Outcome};
use raddle_engine::replay::Script;
use raddle_engine::schedule::Schedule;
use raddle_engine::search::{self, Ended, Found, Limits, Saver};
use raddle_engine::shrink::{Effort, alike, shrink};
use raddle_engine::strategy::Sharing;
use raddle_strategies::receives::{Followed, Following};

use raddle_runtime::threads::Facts;

use crate::budget::Budget;
use crate::explorer::Test;
use crate::file_lock::FileLock;
use crate::files::{self, Files};
use crate::interrupt::Watch;
use crate::last_words::{self, Source};
use crate::learned::{self, Read};
use crate::regressions::{MOST_KEPT, Regressions, Saved};
use crate::report::progress::ProgressLine;
use crate::report::{Failed, Origin, Report, facts, printed};
use crate::saved_search::{self, Owner, SavedSearch};
use crate::schedules;
use crate::settings::{Again, Plan, SettingError};
use crate::workers::{Body, SearchInputs, Shown, Workers};

/// One run of one test.
pub(crate) struct Session {
    plan: Plan,
    test: Test,
    workers: Workers,
    files: Files,
    notes: Vec<String>,
    progress_line: Option<Arc<ProgressLine>>,
    /// The rest of an earlier search, to continue.
    left: Option<Remains>,
    /// Held while this search may be saved, so that no other search of the test is.
    _saved_search_lock: Option<FileLock>,
}

/// What a search found, what it has left to do, and which orders of receives it covered.
type Searched = (search::Report, Remains, Option<Arc<Mutex<Coverage>>>);

/// After so many steps the portfolio stops trying to cover all orders. A number of steps and not a time, so that equal seeds give equal runs on
/// every machine.
const PROOF_STEPS: u64 = 500_000;

/// How often the first execution is run at most, to learn facts about the program before the search.
const MOST_REHEARSALS: u32 = 20;

impl Session {
    pub(crate) fn new(
        test: Test,
        mut plan: Plan,
        body: Body,
        progress_line: Option<ProgressLine>,
    ) -> Result<Self, SettingError> {
        let name = if test.path.is_empty() { "raddle".to_owned() } else { test.path.clone() };
        let files = Files::of(&test, plan.out.as_deref(), plan.regressions);
        let last_words = last_words::prepare(&test, &files, Source::Schedule);
        let mut workers = Workers {
            name,
            body,
            settings: plan.program.clone(),
            printed: AtomicBool::new(false),
            last_words,
            patience: plan.patience,
        };
        let mut notes = Vec::new();
        let mut saved_search_lock = None;
        if plan.resume && plan.replay.is_none() {
            saved_search_lock = lock_saved_search(&files)?;
            if saved_search_lock.is_none() {
                plan.resume = false;
                notes.push(
                    "another search of this test is running, so this one began from the start and what is left of it is not kept"
                        .to_owned(),
                );
            }
        }
        let left = if saved_search_lock.is_some() {
            read_saved_search(&test, &mut plan, &files)?
        } else {
            SavedSearch::Nothing
        };
        let left = match left {
            SavedSearch::Nothing => None,
            SavedSearch::Remains(remains, facts) => {
                workers.settings.facts = Facts::of_words(&facts);
                Some(*remains)
            }
            SavedSearch::ByAnotherBuild => {
                notes.push(
                    "the test was built anew since a search of it was stopped, so this one began again".to_owned(),
                );
                None
            }
        };
        Ok(Self {
            plan,
            test,
            workers,
            files,
            notes,
            progress_line: progress_line.map(Arc::new),
            left,
            _saved_search_lock: saved_search_lock,
        })
    }

    pub(crate) fn run(mut self) -> Report {
        let mut report = match self.plan.replay.take() {
            Some(schedule) => self.replay(schedule),
            None => {
                let regressions = self.read_regressions();
                let failing = regressions.as_ref().and_then(|regressions| self.run_regressions(regressions));
                self.workers.last_words = last_words::prepare(&self.test, &self.files, Source::Search);
                let failing = failing.or_else(|| self.follow_schedules());
                let mut report = failing.unwrap_or_else(|| self.search());
                if regressions.is_some() {
                    self.keep(&mut report);
                }
                report
            }
        };
        self.show_output_of_one(&report);
        self.write_if_long(&mut report);
        report.notes.append(&mut self.notes);
        report
    }

    /// Exactly one execution.
    fn replay(&mut self, schedule: Schedule) -> Report {
        let record = self.workers.show_live(&Script::Names(schedule), &self.plan.limits, self.plan.backtraces);
        let misfit =
            record.divergence.as_ref().map(|d| format!("the schedule does not fit {d}; from there on it went freely"));
        let mut report = Report::of_record(self.test.clone(), record, Origin::Replay, 1);
        report.misfit = misfit.is_some();
        self.notes.extend(misfit);
        report
    }

    fn read_regressions(&mut self) -> Option<Regressions> {
        let file = self.files.regressions.as_ref()?;
        match Regressions::read(file) {
            Ok(regressions) => Some(regressions),
            Err(error) => {
                let file = files::shown(file, &self.test);
                self.notes.push(format!("{} is left as it is and not used: {error}", file.display()));
                None
            }
        }
    }

    /// Runs the schedules that failed before, until one fails again.
    fn run_regressions(&mut self, regressions: &Regressions) -> Option<Report> {
        let file = self.files.regressions.as_ref().map(|file| files::shown(file, &self.test))?;
        let (mut passed, mut misfits) = (0, Vec::new());
        for (tried, kept) in (1..).zip(regressions.kept()) {
            let script = Script::Names(kept.schedule());
            let Shown { record, printed } = self.workers.show(&script, &self.plan.limits, self.plan.backtraces);
            let misfit = record.divergence.as_ref().map(|divergence| format!("line {}, {divergence}", kept.line));
            if record.outcome.failure().is_some() {
                printed::show("the failing execution", &printed);
                let place = format!("{}:{}", file.display(), kept.line);
                let fit = misfit.map(|m| format!(", though it no longer fits ({m})")).unwrap_or_default();
                self.notes.push(format!("regression {place} fails again{fit}"));
                let mut report = Report::of_record(self.test.clone(), record, Origin::Regression, tried);
                report.kept_in = Some(file);
                return Some(report);
            }
            match misfit {
                Some(misfit) => misfits.push(misfit),
                None => passed += 1,
            }
        }
        let mut said = Vec::new();
        let ending = |count: usize| if count == 1 { "s" } else { "" };
        said.extend((passed > 0).then(|| format!("{passed} no longer fail{}", ending(passed))));
        said.extend(
            (!misfits.is_empty())
                .then(|| format!("{} no longer fit{}: {}", misfits.len(), ending(misfits.len()), misfits.join("; "))),
        );
        if !said.is_empty() {
            self.notes.push(format!("of the schedules kept in {}, {}", file.display(), said.join(", ")));
        }
        None
    }

    /// Runs the saved schedules of receives, until one fails.
    fn follow_schedules(&mut self) -> Option<Report> {
        let dir = self.files.schedules.as_ref()?;
        let (kept, errors) = schedules::read(dir, &self.files.lock_of(dir));
        self.notes.extend(errors.iter().map(|error| format!("a kept schedule is left out: {error}")));
        if kept.is_empty() {
            return None;
        }
        let shown = files::shown(dir, &self.test);
        let (names, schedules): (Vec<_>, Vec<_>) = kept.into_iter().unzip();
        let mut strategy = Following::new(schedules);
        let limits = Limits { executions: None, time: None, ..self.plan.limits.clone() };
        let (mut searched, _) = self.workers.search(&mut strategy, &limits, 1, SearchInputs::default(), None);
        let stale = names.iter().zip(strategy.followed()).filter(|(_, followed)| followed.missed.is_some());
        for (name, Followed { receives, of, missed, pairs, of_pairs }) in stale {
            let missed = missed.as_deref().unwrap_or_default();
            self.notes.push(format!(
                "the schedule {} can no longer be followed: {receives} of its {of} receives came about, and then not \
                 {missed}; {pairs} of its {of_pairs} pairs came in its order all the same",
                shown.join(name).display()
            ));
        }
        let followed = strategy.followed().iter().filter(|followed| followed.missed.is_none()).count();
        self.notes.push(format!("followed {followed} of {} schedules kept in {}", names.len(), shown.display()));
        let mut found = searched.found.take()?;
        let which = names.get(strategy.followed().len().saturating_sub(1));
        found.remark = which.map(|name| Fact::Other(format!("by the kept schedule {}", shown.join(name).display())));
        let mut report = Report::of_search(self.test.clone(), &searched, "kept schedules of receives".to_owned());
        report.failed = Some(self.run_once_more(found));
        Some(report)
    }

    /// Saves the schedules that the strategy has generated, if the user asks for that.
    fn save_schedules(&mut self) {
        let (true, Some(dir)) = (self.plan.save_schedules, &self.files.schedules) else { return };
        let needs = self.plan.strategy.needs();
        let generated = self.plan.strategy.summary().map(|summary| summary.generated()).unwrap_or_default();
        let shown = files::shown(dir, &self.test);
        if generated.is_empty() {
            let why = if needs.receives {
                "none were generated and followed".to_owned()
            } else {
                format!("`{}` generates none, `receive-order` does", needs.name)
            };
            self.notes.push(format!("no schedules are kept: {why}; what was kept before stays"));
            return;
        }
        self.notes.push(match schedules::write(dir, &self.files.lock_of(dir), generated) {
            Ok(()) => format!("{} generated schedules are kept in {}", generated.len(), shown.display()),
            Err(error) => format!("the generated schedules are not kept: {error}"),
        });
    }

    fn search(&mut self) -> Report {
        let watch = Watch::new();
        if self.plan.again.is_none() {
            self.rehearse();
        }
        let budget = Budget::new(&self.plan.limits);
        let starts = self.plan.proof_first && !self.plan.resume;
        let proved = if starts { self.try_to_prove(&budget, watch.as_ref()) } else { None };
        let (mut searched, remains, coverage) = proved.unwrap_or_else(|| {
            loop {
                let found = self.search_once(&budget, watch.as_ref());
                if !(found.0.outdated && self.begin_again()) {
                    break found;
                }
            }
        });
        if searched.verified()
            && let Some(failed) = self.run_loops_on(&budget, watch.as_ref())
        {
            searched = failed;
        }
        self.note_abandoned();
        self.save_search(&searched, remains);
        self.export_knowledge(&searched);
        if self.workers.settings.uncontrolled.load(Ordering::Relaxed) && searched.found.is_none() {
            // What they would still have done, nobody has seen.
            searched.ended = Ended::BudgetSpent;
            self.notes.push(
                "a thread that the test started and Raddle does not control was still there at the end: this is not a proof; \
                 start it by raddle::thread::spawn, or join it"
                    .to_owned(),
            );
        }
        let found = searched.found.take();
        let mut report = Report::of_search(self.test.clone(), &searched, self.plan.label.clone());
        if self.workers.body.has_threads() {
            report.judge_exploration(self.plan.must_explore);
        }
        let told = self.plan.strategy.summary().map(|summary| summary.facts()).unwrap_or_default();
        // What is said of calls is of interest to those who asked for them, and was said before.
        report.notes.extend(told.iter().filter(|fact| **fact != Fact::NoCalls).map(facts::words));
        report.failed = found.map(|found| self.run_once_more(found));
        report.coverage =
            coverage.map(|coverage| mem::take(&mut *coverage.lock().unwrap_or_else(PoisonError::into_inner)));
        self.save_schedules();
        if watch.as_ref().is_some_and(Watch::told_to_end) {
            ProgressLine::last_words(&self.test.path, self.notes.last(), &report);
        }
        // Ends the process if it was told to end.
        drop(watch);
        report
    }

    /// Searches once, with the facts that are known about the program now.
    fn search_once(&mut self, budget: &Budget, watch: Option<&Watch>) -> Searched {
        let left = self.left.take().map(|left| self.recall_failure(left));
        self.import_knowledge();
        let coverage = self.plan.coverage.then(Arc::<Mutex<Coverage>>::default);
        let inputs =
            SearchInputs { left, coverage: coverage.clone(), stop: watch.map(Watch::stop), saver: self.saver() };
        let progress_line = self.progress_line.clone();
        let Plan { strategy, workers, .. } = &mut self.plan;
        let (searched, remains) = self.workers.search(&mut **strategy, &budget.left(), *workers, inputs, progress_line);
        (searched, remains, coverage)
    }

    /// Runs `dpor` for about as long as a sampler takes for a small test. `None` if that neither covers all orders nor finds a failure:
    /// the portfolio then samples. When `dpor` begins again, because it has learned something about the program, the steps are counted
    /// anew; time and executions are not.
    fn try_to_prove(&mut self, budget: &Budget, watch: Option<&Watch>) -> Option<Searched> {
        let again = Again::proof()?;
        let mut executions = 0;
        loop {
            let limits = Limits { total_steps: Some(PROOF_STEPS), ..budget.left_for_start(executions)? };
            let mut strategy = again.make()?;
            let coverage = self.plan.coverage.then(Arc::<Mutex<Coverage>>::default);
            let inputs =
                SearchInputs { coverage: coverage.clone(), stop: watch.map(Watch::stop), ..SearchInputs::default() };
            let (searched, remains) = self.workers.search(&mut *strategy, &limits, 1, inputs, None);
            if searched.outdated && self.learn() {
                executions += searched.executions + searched.pruned;
                continue;
            }
            let decided = searched.found.is_some() || searched.verified();
            return decided.then_some((searched, remains, coverage));
        }
    }

    /// Searches once more for a short time, if loops were assumed to spin. In this search, a task that goes round in such a loop goes on alone
    /// for as many rounds as an unknown loop may take. Another loop may look from the same place in the source and give up, and the first
    /// search has left out its exit. Returns the search if it has found a failure. If it could not cover everything, a note says so.
    fn run_loops_on(&mut self, budget: &Budget, watch: Option<&Watch>) -> Option<search::Report> {
        let facts = &mut self.workers.settings.facts;
        if facts.spins.is_empty() || facts.runs_on {
            return None;
        }
        facts.runs_on = true;
        let limits = Limits { total_steps: Some(PROOF_STEPS), ..budget.left() };
        let mut whole = false;
        let failed = Again::proof().and_then(Again::make).and_then(|mut strategy| {
            let inputs = SearchInputs { stop: watch.map(Watch::stop), ..SearchInputs::default() };
            let (searched, _) = self.workers.search(&mut *strategy, &limits, 1, inputs, None);
            whole = searched.verified();
            // The rounds count as steps, and make the execution seem to be without an end.
            let counts =
                |failure: &Failure| !matches!(failure, Failure::TooManySteps { .. } | Failure::Livelock { .. });
            searched.found.as_ref().is_some_and(|found| counts(&found.failure)).then_some(searched)
        });
        self.workers.settings.facts.runs_on = failed.is_some();
        if failed.is_none() && !whole {
            self.notes.push(
                "loops that look from the same place in the source as one that spins were run to their exits in a part of the orders only"
                    .to_owned(),
            );
        }
        failed
    }

    /// Says how many threads were abandoned, if that has ended the search.
    fn note_abandoned(&mut self) {
        let settings = &self.workers.settings;
        let abandoned = settings.abandoned.load(Ordering::Relaxed);
        if abandoned >= settings.most_abandoned {
            self.notes.push(format!(
                "the search ended because {abandoned} threads that could never go on were abandoned, and what they own is not \
                 freed; let them end, or set `abandoned_threads` to more"
            ));
        }
    }

    /// Takes over the facts that executions have shown about the program. True if any of them is new.
    fn learn(&mut self) -> bool {
        let learned = self.workers.settings.learned.clone();
        self.workers.settings.facts.add(&learned.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Prepares another search with what the last one has shown about the program. False if nothing is new.
    fn begin_again(&mut self) -> bool {
        match self.plan.again.and_then(Again::make) {
            Some(strategy) if self.learn() => {
                self.plan.strategy = strategy;
                true
            }
            _ => false,
        }
    }

    /// Learns facts about the program before the search, from its first execution. For a strategy that was given as a value: it cannot be made
    /// again, so its search cannot begin again.
    fn rehearse(&mut self) {
        let first = Script::Choices { seed: 0, choices: Vec::new() };
        for _ in 0..MOST_REHEARSALS {
            drop(self.workers.replay(&first, &self.plan.limits));
            if !self.learn() {
                break;
            }
        }
        self.workers.settings.keeps_facts = true;
    }

    /// Gives the strategy what earlier searches have learned about the program.
    fn import_knowledge(&mut self) {
        let Some(file) = &self.files.learned else { return };
        let Some(memory) = self.plan.strategy.memory() else { return };
        let wanted = self.plan.program.context;
        match learned::read(file, &self.test.path, wanted, memory) {
            Read::Nothing | Read::OfAnotherBuild(_) => {}
            Read::Saved(saved) => memory.load(&saved).expect("raddle bug: what was checked cannot be loaded"),
            Read::OfOthers { context } => self.notes.push(format!(
                "what earlier searches have learned, in {}, is not used: it was learned with context {context} and not {wanted}",
                files::shown(file, &self.test).display(),
            )),
            Read::Broken { why, now } => {
                let file = files::shown(file, &self.test);
                self.notes.push(format!(
                    "what earlier searches have learned, in {}, cannot be used: {why}; {}",
                    file.display(),
                    now.map_or("it could not be set aside".to_owned(), |now| format!(
                        "it was set aside as {}",
                        files::shown(&now, &self.test).display()
                    ))
                ));
            }
        }
    }

    /// Saves what was learned about the program for the next search, unless this one was stopped: the next one would skip what this one has not
    /// run.
    fn export_knowledge(&mut self, searched: &search::Report) {
        let (Some(file), Ended::Done(_)) = (&self.files.learned, searched.ended) else { return };
        let context = self.plan.program.context;
        let told = self.plan.strategy.summary().map(|summary| summary.facts()).unwrap_or_default();
        if context > 0 {
            self.notes.extend(told.iter().filter(|fact| **fact == Fact::NoCalls).map(facts::words));
        }
        let Some(memory) = self.plan.strategy.memory() else { return };
        if let Err(why) = learned::write(file, &self.files.lock_of(file), &self.test.path, context, memory) {
            self.notes.push(format!("what was learned could not be kept: {why}"));
        }
    }

    /// Runs the first failing order of an earlier run again: only its choices were saved, not its failure.
    fn recall_failure(&mut self, mut left: Remains) -> Remains {
        let Some(script) = left.failed() else { return left };
        match self.workers.replay(&script, &self.plan.limits).outcome {
            Outcome::Failed(failure) => left.failed_again(*failure),
            Outcome::Completed => self.notes.push(
                "the first failure of an earlier search did not show again when the same schedule was run once more: the \
                 program depends on something outside Raddle's control"
                    .to_owned(),
            ),
        }
        left
    }

    /// Saves the search while it runs, if it may be resumed. Errors are ignored here: the search is saved again at its end, and an error is
    /// reported then.
    fn saver(&self) -> Option<Saver> {
        let (true, Some(file)) = (self.plan.resume, self.files.saved_search.clone()) else { return None };
        let (test, strategy, settings) = (self.test.path.clone(), self.plan.label.clone(), self.plan.tree());
        let facts = self.workers.settings.facts.words();
        Some(Box::new(move |remains| {
            let owner = Owner { test: &test, strategy: &strategy, settings: &settings, facts: &facts };
            let _ = saved_search::write(&file, &owner, Some(remains));
        }))
    }

    /// Saves what is left to do for the next run of the test, or removes the file if the search is done.
    fn save_search(&mut self, searched: &search::Report, remains: Remains) {
        let (true, Some(file)) = (self.plan.resume, &self.files.saved_search) else { return };
        let unfinished = searched.ended == Ended::BudgetSpent;
        let (settings, facts) = (self.plan.tree(), self.workers.settings.facts.words());
        let owner = Owner { test: &self.test.path, strategy: &self.plan.label, settings: &settings, facts: &facts };
        let shown = files::shown(file, &self.test);
        match saved_search::write(file, &owner, unfinished.then_some(remains)) {
            Ok(()) if unfinished => {
                self.notes
                    .push(format!("what is left is kept in {}; the next search goes on with it", shown.display()));
            }
            Ok(()) => {}
            Err(error) => self.notes.push(format!("what is left could not be kept: {error}")),
        }
    }

    /// Makes the failing order small and runs it again, so that what the program prints in it comes last and its steps can be
    /// shown.
    fn run_once_more(&mut self, found: Found) -> Failed {
        let Found { failure, script, after, remark, .. } = found;
        let limits = &self.plan.limits;
        // With the fewest switches, every execution that is too long is one in which nobody else has a turn. So it is not made smaller, and
        // runs once instead of twice: it takes long.
        let long = matches!(failure, Failure::TooManySteps { .. });
        let show = |script: &Script| self.workers.show(script, limits, self.plan.backtraces);
        let first = if long {
            show(&script)
        } else {
            Shown { record: self.workers.replay(&script, limits), printed: String::new() }
        };
        let again = first.record.outcome.failure();
        let shows = again.is_some_and(|again| alike(again, &failure)) && first.record.divergence.is_none();
        let record = if shows {
            let Shown { record, printed } = if long {
                first
            } else {
                let replay = &mut |script: &Script| self.workers.replay(script, limits);
                show(&Script::Names(shrink(first.record, Effort::default(), replay)))
            };
            printed::show("the failing execution", &printed);
            record
        } else {
            first.record
        };
        let again = record.outcome.failure();
        let same = again.is_some_and(|again| alike(again, &failure));
        if !same && !matches!(failure, Failure::Nondeterminism(_)) {
            let other = again.map_or("no failure".to_owned(), |again| format!("{} instead", again.kind()));
            let diverged = record.divergence.as_ref().map(|d| format!("; it went another way {d}")).unwrap_or_default();
            self.notes.push(format!(
                "this failure did not show again when the same schedule was run once more ({other}): the program depends \
                 on something outside Raddle's control{diverged}"
            ));
        }
        let failure = if same { again.expect("compared just now").clone() } else { failure };
        let remark = remark.as_ref().map(facts::words);
        Failed { failure, record, same, after, remark, origin: Origin::Search }
    }

    /// Keeps the failing schedule for the next time.
    fn keep(&mut self, report: &mut Report) {
        let (Some(failed), Some(file)) = (&report.failed, &self.files.regressions) else { return };
        // One that takes too many steps is long to write and long to run, and what it shows depends on the bound.
        let lasting = failed.replays() && !matches!(failed.failure, Failure::TooManySteps { .. });
        let Some(failure) = report.failure_line().filter(|_| lasting) else { return };
        let lock = self.files.lock_of(file);
        let saved = Regressions::keep(file, &lock, &self.test.path, &failed.record.schedule, &failure);
        let file = files::shown(file, &self.test);
        match saved {
            Ok(Saved { dropped }) => {
                if dropped > 0 {
                    let schedules = if dropped == 1 { "schedule was" } else { "schedules were" };
                    let note = format!("the {dropped} oldest {schedules} removed from {}", file.display());
                    self.notes.push(format!("{note}: it has at most {MOST_KEPT}"));
                }
                report.saved = Some(file);
            }
            Err(error) => self.notes.push(format!("not saved to {}: {error}", file.display())),
        }
    }

    /// Runs a program that passes and prints something once more, in its first order, so that its output can be seen once.
    fn show_output_of_one(&self, report: &Report) {
        if self.plan.shows_output && !report.failed() && self.workers.printed.load(Ordering::Relaxed) {
            let first = Script::Names(Schedule::default());
            printed::show("one execution", &self.workers.show(&first, &self.plan.limits, false).printed);
        }
    }

    fn write_if_long(&mut self, report: &mut Report) {
        let Some(file) = &self.files.report else { return };
        let Some(text) = report.whole_if_long() else { return };
        match files::write_whole(file, &(text + "\n")) {
            Ok(()) => report.whole = Some(files::shown(file, &self.test)),
            Err(error) => self.notes.push(format!("the whole table cannot be written to {}: {error}", file.display())),
        }
    }
}

/// Locks the saved search; `None` if another search of the same test has locked it.
fn lock_saved_search(files: &Files) -> Result<Option<FileLock>, SettingError> {
    let Some(file) = &files.saved_search else {
        let why = "a test without a name, or without a directory for its files (RADDLE_OUT), has no file";
        return Err(SettingError::Resume { why: why.to_owned() });
    };
    let locked = FileLock::try_now(&files.lock_of(file));
    locked.map_err(|error| SettingError::Resume { why: format!("{} cannot be locked: {error}", file.display()) })
}

/// Reads the saved search of this test.
fn read_saved_search(test: &Test, plan: &mut Plan, files: &Files) -> Result<SavedSearch, SettingError> {
    let (Some(file), false) = (&files.saved_search, matches!(plan.strategy.sharing(), Sharing::Alone)) else {
        let why = format!("{} keeps nothing that could be written down", plan.strategy.name());
        return Err(SettingError::Resume { why });
    };
    let settings = plan.tree();
    let owner = Owner { test: &test.path, strategy: &plan.label, settings: &settings, facts: &[] };
    saved_search::read(file, &owner, &mut *plan.strategy)
}
