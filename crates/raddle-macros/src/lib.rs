//! `#[raddle::test]`. Users meet it through the crate `raddle`.

mod expand;
mod settings;

use proc_macro::TokenStream;

/// Makes a function a test whose threads run under Raddle's control, in many orders.
///
/// The result is an ordinary `#[test]`: other attributes (`#[ignore]`, `#[should_panic]`, `#[cfg(…)]`) keep their meaning, and
/// a function that returns a `Result` fails with its error. A function that returns a `raddle::model::Model` is a test of that model. The test panics with the report of what went wrong.
///
/// ```text
/// #[raddle::test]
/// fn transfer_is_atomic() { … }
///
/// #[raddle::test(strategy = "pct", time = "30s", seed = 7)]
/// fn transfer_is_atomic_for_half_a_minute() -> Result<(), BankError> { … }
/// ```
///
/// Settings: `strategy`, `executions`, `time`, `seed`, `workers`, `deviations`, `resume`, `coverage`, `save_schedules`, `steps`, `hang`, `hang_end`, `stack_size`, `spurious_wakeups`,
/// `isolate_panics`, `keep_going`, `regressions`, `must_explore`, `leaked_threads`, `timeouts`, `abandoned_threads`, `learn`, `context`. They mean what the methods of `raddle::Explorer` of the same name say, and the environment
/// wins over them. A test that `should_panic` keeps no regressions unless it is told to.
#[proc_macro_attribute]
pub fn test(settings: TokenStream, function: TokenStream) -> TokenStream {
    expand::test(settings.into(), function.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
