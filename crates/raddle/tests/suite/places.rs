//! How places are told where a file is called as one of Raddle's.

mod model;
