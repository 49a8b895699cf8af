//! What users meet, tried as users would.

mod attribute;
mod programs;
mod reports;
