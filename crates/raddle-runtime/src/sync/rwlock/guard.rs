//! The guards of an [`RwLock`](super::RwLock).

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync;

use raddle_engine::trace::{Effect, Ordered};

use super::{READER, RwLock, UNLOCK_READ, UNLOCK_WRITE};
use crate::execution::Ask;
use crate::sync::lock::Held;
use crate::sync::lock::api::{guard_api, guard_api_mut};

/// Holds an [`RwLock`] together with other readers until it is dropped, as [`std::sync::RwLockReadGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    pub(super) lock: &'a RwLock<T>,
    pub(super) held: Held<'a, sync::RwLock<T>, sync::RwLockReadGuard<'a, T>>,
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        if !self.held.drop_std() {
            return;
        }
        let site = self.held.site;
        self.lock.with_readers(site, |place, readers| {
            let ask = Ask::new(&UNLOCK_READ, place.object, Effect::Read, site);
            place.execution.step(ask, |moment| {
                moment.release();
                moment.gives();
                moment.touch(readers.access(Effect::Read, Ordered::RELEASE));
                *moment.word() -= READER;
            });
        });
    }
}

/// Holds an [`RwLock`] alone until it is dropped, as [`std::sync::RwLockWriteGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    pub(super) held: Held<'a, sync::RwLock<T>, sync::RwLockWriteGuard<'a, T>>,
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        self.held.unlock(&UNLOCK_WRITE);
    }
}

guard_api!(RwLockReadGuard);
guard_api_mut!(RwLockWriteGuard);
