//! What users meet, tried as users would.

mod actors;
mod attribute;
mod collections;
mod compile;
mod contexts;
mod delay;
mod exploration;
mod failures;
mod hapset;
mod interrupted;
mod kept;
mod learnt;
mod models;
mod models_gone_wrong;
mod places;
mod plain_memory;
mod programs;
mod proofs;
mod receives;
mod replay;
mod reports;
mod same_twice;
mod samplers;
mod settings;
mod sittings;
mod workers;
