//! What a session reads from the files of its test and writes to them: regressions, schedules of receives, knowledge of the program, and
//! searches to resume.

use raddle_engine::board::Remains;
use raddle_engine::facts::Fact;
use raddle_engine::outcome::{Failure, Outcome};
use raddle_engine::replay::Script;
use raddle_engine::search::{self, Ended, Limits, Saver};
use raddle_engine::strategy::Sharing;
use raddle_strategies::receives::{Followed, Following};

use super::Session;
use crate::explorer::Test;
use crate::file_lock::FileLock;
use crate::files::{self, Files};
use crate::learned::{self, Read};
use crate::plan::Plan;
use crate::regressions::{MOST_KEPT, Regressions, Saved};
use crate::report::{Origin, Report, facts, printed};
use crate::saved_search::{self, Owner, SavedSearch};
use crate::schedules;
use crate::settings::SettingError;
use crate::workers::{SearchInputs, Shown};

impl Session {
    pub(super) fn read_regressions(&mut self) -> Option<Regressions> {
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
    pub(super) fn run_regressions(&mut self, regressions: &Regressions) -> Option<Report> {
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
            self.notes.push(format!("of the schedules saved in {}, {}", file.display(), said.join(", ")));
        }
        None
    }

    /// Saves the failing schedule for the next run.
    pub(super) fn keep(&mut self, report: &mut Report) {
        let (Some(failed), Some(file)) = (&report.failed, &self.files.regressions) else { return };
        // A schedule with too many steps takes long to write and to run, and its result depends on the limit.
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

    /// Runs the saved schedules of receives, until one fails.
    pub(super) fn follow_schedules(&mut self) -> Option<Report> {
        let dir = self.files.schedules.as_ref()?;
        let (kept, errors) = schedules::read(dir, &self.files.lock_of(dir));
        self.notes.extend(errors.iter().map(|error| format!("a saved schedule is ignored: {error}")));
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
        self.notes.push(format!("followed {followed} of {} schedules saved in {}", names.len(), shown.display()));
        let mut found = searched.found.take()?;
        let which = names.get(strategy.followed().len().saturating_sub(1));
        found.remark = which.map(|name| Fact::Other(format!("by the saved schedule {}", shown.join(name).display())));
        let mut report = Report::of_search(self.test.clone(), &searched, "saved schedules of receives".to_owned());
        report.failed = Some(self.run_once_more(found));
        Some(report)
    }

    /// Saves the schedules that the strategy has generated, if the user asks for that.
    pub(super) fn save_schedules(&mut self) {
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
            self.notes.push(format!("no schedules are saved: {why}; those saved before stay"));
            return;
        }
        self.notes.push(match schedules::write(dir, &self.files.lock_of(dir), generated) {
            Ok(()) => format!("{} generated schedules are saved in {}", generated.len(), shown.display()),
            Err(error) => format!("the generated schedules are not saved: {error}"),
        });
    }

    /// Gives the strategy what earlier searches have learned about the program.
    pub(super) fn import_knowledge(&mut self) {
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
    pub(super) fn export_knowledge(&mut self, searched: &search::Report) {
        let (Some(file), Ended::Done(_)) = (&self.files.learned, searched.ended) else { return };
        let context = self.plan.program.context;
        let told = self.plan.strategy.summary().map(|summary| summary.facts()).unwrap_or_default();
        if context > 0 {
            self.notes.extend(told.iter().filter(|fact| **fact == Fact::NoCalls).map(facts::words));
        }
        let Some(memory) = self.plan.strategy.memory() else { return };
        if let Err(why) = learned::write(file, &self.files.lock_of(file), &self.test.path, context, memory) {
            self.notes.push(format!("what was learned could not be saved: {why}"));
        }
    }

    /// Runs the first failing order of an earlier run again: only its choices were saved, not its failure.
    pub(super) fn recall_failure(&mut self, mut left: Remains) -> Remains {
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
    pub(super) fn saver(&self) -> Option<Saver> {
        let (true, Some(file)) = (self.plan.resume, self.files.saved_search.clone()) else { return None };
        let (test, strategy, settings) = (self.test.path.clone(), self.plan.label.clone(), self.plan.tree());
        let facts = self.workers.settings.facts.words();
        Some(Box::new(move |remains| {
            let owner = Owner { test: &test, strategy: &strategy, settings: &settings, facts: &facts };
            let _ = saved_search::write(&file, &owner, Some(remains));
        }))
    }

    /// Saves what is left to do for the next run of the test, or removes the file if the search is done.
    pub(super) fn save_search(&mut self, searched: &search::Report, remains: Remains) {
        let (true, Some(file)) = (self.plan.resume, &self.files.saved_search) else { return };
        let unfinished = searched.ended == Ended::BudgetSpent;
        let (settings, facts) = (self.plan.tree(), self.workers.settings.facts.words());
        let owner = Owner { test: &self.test.path, strategy: &self.plan.label, settings: &settings, facts: &facts };
        let shown = files::shown(file, &self.test);
        match saved_search::write(file, &owner, unfinished.then_some(remains)) {
            Ok(()) if unfinished => {
                self.notes
                    .push(format!("the rest of the search is saved in {}; the next run continues it", shown.display()));
            }
            Ok(()) => {}
            Err(error) => self.notes.push(format!("the rest of the search could not be saved: {error}")),
        }
    }

    pub(super) fn write_if_long(&mut self, report: &mut Report) {
        let Some(file) = &self.files.report else { return };
        let Some(text) = report.whole_if_long() else { return };
        match files::write_whole(file, &(text + "\n")) {
            Ok(()) => report.whole = Some(files::shown(file, &self.test)),
            Err(error) => self.notes.push(format!("the whole table cannot be written to {}: {error}", file.display())),
        }
    }
}

/// Locks the saved search; `None` if another search of the same test has locked it.
pub(super) fn lock_saved_search(files: &Files) -> Result<Option<FileLock>, SettingError> {
    let Some(file) = &files.saved_search else {
        let why = "a test without a name, or without a directory for its files (RADDLE_OUT), has no file";
        return Err(SettingError::Resume { why: why.to_owned() });
    };
    let locked = FileLock::try_now(&files.lock_of(file));
    locked.map_err(|error| SettingError::Resume { why: format!("{} cannot be locked: {error}", file.display()) })
}

/// Reads the saved search of this test.
pub(super) fn read_saved_search(test: &Test, plan: &mut Plan, files: &Files) -> Result<SavedSearch, SettingError> {
    let (Some(file), false) = (&files.saved_search, matches!(plan.strategy.sharing(), Sharing::Alone)) else {
        let why = format!("{} cannot be saved", plan.strategy.name());
        return Err(SettingError::Resume { why });
    };
    let settings = plan.tree();
    let owner = Owner { test: &test.path, strategy: &plan.label, settings: &settings, facts: &[] };
    saved_search::read(file, &owner, &mut *plan.strategy)
}
