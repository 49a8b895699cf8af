//! What users meet, tried as users would.

mod attribute;
