//! Searches by the strategies that come with Raddle.

mod caveats;
mod estimate;
mod save;
