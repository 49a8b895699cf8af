//! Searches by the strategies that come with Raddle.

mod caveats;
mod cut_off;
mod estimate;
mod save;
