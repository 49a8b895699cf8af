//! From the settings of a test to its report: saved schedules run first, then the search, and then the failing order once more.

mod stored;

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use raddle_engine::board::Remains;
use raddle_engine::coverage::Coverage;
use raddle_engine::facts::Fact;
use raddle_engine::outcome::Failure;
use raddle_engine::replay::Script;
use raddle_engine::schedule::Schedule;
use raddle_engine::search::{self, Ended, Found, Limits};
use raddle_engine::shrink::{Effort, alike, shrink};
use raddle_runtime::threads::{Facts, RunsOn};

use crate::budget::Budget;
use crate::explorer::Test;
use crate::file_lock::FileLock;
use crate::files::Files;
use crate::interrupt::Watch;
use crate::last_words::{self, Source};
use crate::plan::{Again, Plan};
use crate::report::progress::ProgressLine;
use crate::report::{Failed, Origin, Report, facts, printed};
use crate::saved_search::SavedSearch;
use crate::settings::SettingError;
use crate::workers::{Body, SearchInputs, Shown, Workers};

use self::stored::{lock_saved_search, read_saved_search};

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

/// The result of a search, its rest, and which orders of receives it covered.
type Searched = (search::Report, Remains, Option<Arc<Mutex<Coverage>>>);

/// After so many steps the portfolio stops trying to cover all orders. A number of steps and not a time, so that equal seeds give equal runs on
/// every machine.
const PROOF_STEPS: u64 = 500_000;

/// After so many steps the portfolio stops looking for loops that spin.
const LOOP_STEPS: u64 = PROOF_STEPS / 10;

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
                    "another search of this test is running, so this one starts from the beginning and is not saved"
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
                    "the test was rebuilt since its last search was stopped, so this search starts again".to_owned(),
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
            // It is unknown what they would still have done.
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
        // Facts about calls matter only if the user asked for contexts, and were already reported then.
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
    /// anew; time and executions are not. If it has not learned which loops spin before the steps were used up, it is [told](Self::find_loops).
    fn try_to_prove(&mut self, budget: &Budget, watch: Option<&Watch>) -> Option<Searched> {
        let again = Again::proof()?;
        let mut executions = 0;
        let mut looked_for_loops = false;
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
            if searched.found.is_some() || searched.verified() {
                return Some((searched, remains, coverage));
            }
            if mem::replace(&mut looked_for_loops, true) || !self.find_loops(budget, watch) {
                return None;
            }
            executions += searched.executions + searched.pruned;
        }
    }

    /// Searches for a short time for loops that spin, with tasks that run loops alone. Returns whether it has found one. Otherwise each execution
    /// may go round a loop once more than the one before, and a thousand rounds take too many steps. What else it finds does not count: most
    /// orders are left out.
    fn find_loops(&mut self, budget: &Budget, watch: Option<&Watch>) -> bool {
        let before = mem::replace(&mut self.workers.settings.facts.runs_on, RunsOn::AllLoops);
        let mut found = false;
        while let Some(mut strategy) = Again::proof().and_then(Again::make) {
            let limits = Limits { total_steps: Some(LOOP_STEPS), ..budget.left() };
            let inputs = SearchInputs { stop: watch.map(Watch::stop), ..SearchInputs::default() };
            let (searched, _) = self.workers.search(&mut *strategy, &limits, 1, inputs, None);
            if !(searched.outdated && self.learn()) {
                break;
            }
            found = true;
        }
        self.workers.settings.facts.runs_on = before;
        found
    }

    /// Searches once more for a short time, if loops were assumed to spin. In this search, a task that goes round in such a loop goes on alone
    /// for as many rounds as an unknown loop may take. Another loop may look from the same place in the source and give up, and the first
    /// search has left out its exit. Returns the search if it has found a failure. If it could not cover everything, a note says so.
    fn run_loops_on(&mut self, budget: &Budget, watch: Option<&Watch>) -> Option<search::Report> {
        let facts = &mut self.workers.settings.facts;
        if facts.spins.is_empty() || facts.runs_on != RunsOn::Never {
            return None;
        }
        facts.runs_on = RunsOn::KnownLoops;
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
        if failed.is_none() {
            self.workers.settings.facts.runs_on = RunsOn::Never;
        }
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

    /// Shrinks the failing schedule and runs it again, so that its output comes last and its steps can be shown.
    fn run_once_more(&mut self, found: Found) -> Failed {
        let Found { failure, script, after, remark, .. } = found;
        let limits = &self.plan.limits;
        // With the fewest switches, every execution that is too long is one in which no other task runs. So it is not shrunk, and runs once
        // instead of twice: it takes long.
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

    /// If the program passes and prints something, runs it once more, in its first order, so that its output is shown once.
    fn show_output_of_one(&self, report: &Report) {
        if self.plan.shows_output && !report.failed() && self.workers.printed.load(Ordering::Relaxed) {
            let first = Script::Names(Schedule::default());
            printed::show("one execution", &self.workers.show(&first, &self.plan.limits, false).printed);
        }
    }
}
