//! A handler of a model while it runs. Its effects are collected here, and applied when it has returned.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::hash::Hash;
use std::mem;
use std::rc::Rc;

use raddle_engine::forward::ForwardChoices;
use raddle_engine::rng::mix;
use raddle_engine::trace::Site;

use crate::actor::{Actor, Address, Roster, Route, Timer, Who, digest, short_name};
use crate::model::ModelActor;
use crate::model::handler::Handler;

/// The contents of a message in a model. Copies of the state share them.
#[derive(Clone)]
pub(crate) struct Payload {
    /// The hash of the contents.
    pub(crate) digest: u64,
    /// Which variant of its type it is.
    pub(crate) variant: u64,
    body: PayloadCell,
}

/// The memory of the contents: an `Option` of the message type. It is `None` after the contents were moved out.
pub(crate) type PayloadCell = Rc<dyn Any>;

impl Payload {
    /// Stores a message, in the `used` memory if that has the right type and is not shared. Hashes it if `hashed` is true.
    pub(crate) fn pack<M: Clone + Hash + 'static>(msg: M, mut used: Option<PayloadCell>, hashed: bool) -> Self {
        let (digest, variant) = if hashed { (digest(&msg), digest(&mem::discriminant(&msg))) } else { (0, 0) };
        match used.as_mut().and_then(place_for) {
            Some(place) => *place = Some(msg),
            None => used = Some(wrap(msg)),
        }
        Self { digest, variant, body: used.expect("there is a place in it") }
    }

    /// Contents whose hashes are not needed.
    #[inline]
    pub(super) fn unhashed(body: PayloadCell) -> Self {
        Self { digest: 0, variant: 0, body }
    }

    /// The memory of the contents.
    #[inline]
    pub(super) fn into_cell(self) -> PayloadCell {
        self.body
    }

    /// A copy of the message. The original stays, since a handler that draws a value runs again.
    pub(crate) fn open<M: Clone + 'static>(&self) -> M {
        read(&self.body)
    }
}

fn read<M: Clone + 'static>(body: &PayloadCell) -> M {
    let message: Option<&Option<M>> = body.downcast_ref();
    let message = message.expect("raddle bug: a message of another type");
    message.as_ref().expect("raddle bug: a message is received twice").clone()
}

/// Moves the message out, or copies it if the memory is shared.
#[inline]
pub(super) fn unwrap<M: Clone + 'static>(body: &mut PayloadCell) -> M {
    match place_for(body).and_then(Option::take) {
        Some(message) => message,
        None => read(body),
    }
}

#[cold]
fn wrap<M: 'static>(msg: M) -> PayloadCell {
    Rc::new(Some(msg))
}

/// The message in this memory, to be changed, if the memory is not shared and the type is right.
#[inline]
fn place_for<M: 'static>(body: &mut PayloadCell) -> Option<&mut Option<M>> {
    Rc::get_mut(body)?.downcast_mut()
}

/// What a handler did, in order.
#[derive(Clone)]
pub(crate) enum Effect {
    Send { to: u32, label: &'static str, payload: Payload },
    Spawn { who: Who, actor: Rc<dyn Handler> },
    Timer { timer: Timer, label: &'static str, payload: Payload },
    Cancel(Timer),
    Hint(u64),
    Announce { kind: TypeId, called: &'static str, event: Rc<dyn Any> },
    Becomes(&'static str),
    Unhandled(&'static str),
    Stop,
}

impl Effect {
    /// The receiver, if the effect is a send.
    pub(crate) fn receiver(&self) -> Option<usize> {
        match self {
            Self::Send { to, .. } => Some(*to as usize),
            _ => None,
        }
    }

    /// The hash of the message, if the effect is a send to this actor.
    pub(crate) fn sent_to(&self, actor: usize) -> Option<u64> {
        match self {
            Self::Send { to, payload, .. } if *to as usize == actor => Some(payload.digest),
            _ => None,
        }
    }

    /// A hash of the effect; `None` if it cannot be hashed.
    pub(crate) fn digest(&self) -> Option<u64> {
        Some(match self {
            Self::Send { to, payload, .. } => mix(u64::from(*to) << 3, payload.digest),
            Self::Spawn { who, actor } => mix(u64::from(who.index) << 3 | 1, actor.digest()),
            Self::Timer { timer, payload, .. } => mix(u64::from(timer.0) << 3 | 2, payload.digest),
            Self::Cancel(timer) => mix(u64::from(timer.0) << 3 | 3, 0),
            Self::Hint(_) => 4,
            Self::Becomes(_) => 5,
            Self::Unhandled(_) => 6,
            Self::Stop => 7,
            Self::Announce { .. } => return None,
        })
    }
}

/// The types of actors that handlers may create.
#[derive(Clone, Default)]
pub(crate) struct ActorTypes {
    types: Rc<HashMap<TypeId, Type>>,
}

#[derive(Clone)]
struct Type {
    wrap: fn(Box<dyn Any>) -> Rc<dyn Handler>,
    /// A [`Pack`] for the type's own messages.
    pack: Rc<dyn Any>,
}

/// How messages of a type are packed: in what, and whether they are hashed.
pub(crate) type Pack<M> = fn(M, Option<PayloadCell>, bool) -> Payload;

impl ActorTypes {
    pub(crate) fn add<A: ModelActor>(&mut self) {
        let wrap = |actor: Box<dyn Any>| -> Rc<dyn Handler> {
            Rc::new(*actor.downcast::<A>().unwrap_or_else(|_| panic!("raddle bug: an actor of another type")))
        };
        let pack: Pack<A::Msg> = Payload::pack::<A::Msg>;
        Rc::make_mut(&mut self.types).insert(TypeId::of::<A>(), Type { wrap, pack: Rc::new(pack) });
    }
}

/// A handler of a model while it runs.
pub(crate) struct ModelHandling {
    pub(crate) who: Who,
    actor_types: ActorTypes,
    roster: Rc<Roster>,
    /// Values that were drawn when the handler ran before, and how many of them it has asked for.
    draws: Vec<u32>,
    asked: usize,
    /// It has asked for one of so many values that was not chosen yet. Its other effects are discarded.
    pub(crate) wants: Option<(u32, Site)>,
    pub(crate) next_timer: u32,
    /// Its effects, and where in the source they are.
    pub(crate) effects: Vec<(Effect, Site)>,
    /// Hashes of the actor and of the messages it sends are needed.
    pub(crate) hashed: bool,
    /// What it sent before it did anything else. Used if its other effects are not needed.
    pub(super) mailed: Vec<Mailed>,
    /// The random choices for its values, if the run is untraced.
    pub(super) at_once: Option<AtOnce>,
    /// Memory of messages that were dead letters or were received.
    used: Vec<PayloadCell>,
}

/// A message that was sent in an untraced run.
pub(super) struct Mailed {
    pub(super) to: u32,
    pub(super) label: &'static str,
    pub(super) body: PayloadCell,
}

/// Values that are drawn while a handler runs, which then need not run again.
pub(super) struct AtOnce {
    pub(super) choices: ForwardChoices,
    /// How many steps were taken, with those in which values were drawn.
    pub(super) steps: usize,
}

/// How many memory cells are kept for later messages.
const MOST_USED: usize = 8;

impl ModelHandling {
    pub(crate) fn new(who: Who, actor_types: ActorTypes, roster: Rc<Roster>, draws: Vec<u32>, next_timer: u32) -> Self {
        let (effects, used) = (Vec::new(), Vec::new());
        Self {
            who,
            actor_types,
            roster,
            draws,
            asked: 0,
            wants: None,
            next_timer,
            effects,
            hashed: true,
            mailed: Vec::new(),
            at_once: None,
            used,
        }
    }

    /// Prepares for another handler, in the same memory.
    #[inline]
    pub(crate) fn begin(&mut self, who: Who, roster: &Rc<Roster>, draws: Vec<u32>, next_timer: u32) {
        if !Rc::ptr_eq(&self.roster, roster) {
            self.roster = Rc::clone(roster);
        }
        while let Some(effect) = self.effects.pop() {
            if let (Effect::Send { payload, .. }, _) = effect {
                self.reuse(payload.body);
            }
        }
        (self.who, self.draws, self.asked, self.wants, self.next_timer) = (who, draws, 0, None, next_timer);
    }

    /// Discards the effects, and the value that was asked for.
    #[cold]
    pub(super) fn forget(&mut self) {
        self.mailed.clear();
        self.effects.clear();
        self.draws.clear();
        (self.asked, self.wants) = (0, None);
    }

    /// Prepares for another handler without drawn values, after one whose effects were all taken.
    #[inline]
    pub(super) fn begin_again(&mut self, who: &Who, roster: &Rc<Roster>, next_timer: u32) {
        if !Rc::ptr_eq(&self.roster, roster) {
            self.roster = Rc::clone(roster);
        }
        (self.who, self.next_timer) = (*who, next_timer);
    }

    /// Keeps the memory of a message for a later one, if it is not shared.
    #[inline]
    pub(super) fn reuse(&mut self, body: PayloadCell) {
        if self.used.len() < MOST_USED && Rc::strong_count(&body) == 1 {
            self.used.push(body);
        }
    }

    /// The values that were drawn for it.
    pub(crate) fn take_draws(&mut self) -> Vec<u32> {
        mem::take(&mut self.draws)
    }

    #[inline]
    pub(crate) fn send<M>(&mut self, to: Who, label: &'static str, msg: M, pack: Pack<M>, site: Site) {
        let payload = pack(msg, self.used.pop(), self.hashed);
        if self.at_once.is_some() && self.effects.is_empty() {
            return self.mailed.push(Mailed { to: to.index, label, body: payload.body });
        }
        self.effects.push((Effect::Send { to: to.index, label, payload }, site));
    }

    #[track_caller]
    pub(crate) fn spawn<A: Actor>(&mut self, actor: A, site: Site) -> Address<A::Msg> {
        let Some(Type { wrap, pack }) = self.actor_types.types.get(&TypeId::of::<A>()) else {
            let (name, kind) = (self.who, short_name(type_name::<A>()));
            panic!(
                "raddle: {name} creates a {kind}, which its model does not know: say `m.knows::<{kind}>()` in its setup"
            );
        };
        let pack = *pack.downcast_ref::<Pack<A::Msg>>().expect("raddle bug: a way to pack another type");
        let who = Rc::make_mut(&mut self.roster).next(self.who.world, short_name(type_name::<A>()));
        self.effects.push((Effect::Spawn { who, actor: wrap(Box::new(actor)) }, site));
        Address { who, route: Route::Model { pack, label: A::label } }
    }

    /// Something that takes no more than to be said.
    pub(crate) fn add(&mut self, effect: Effect, site: Site) {
        self.effects.push((effect, site));
    }

    pub(crate) fn set_timer<M>(&mut self, label: &'static str, msg: M, pack: Pack<M>, site: Site) -> Timer {
        let payload = pack(msg, self.used.pop(), self.hashed);
        let timer = Timer(self.next_timer);
        self.next_timer += 1;
        self.effects.push((Effect::Timer { timer, label, payload }, site));
        timer
    }

    pub(crate) fn announce<E: 'static>(&mut self, event: E, site: Site) {
        let (kind, called) = (TypeId::of::<E>(), type_name::<E>());
        self.effects.push((Effect::Announce { kind, called, event: Rc::new(event) }, site));
    }

    pub(crate) fn choose(&mut self, n: u32, site: Site) -> u32 {
        if n == 1 {
            return 0;
        }
        if let Some(AtOnce { choices, steps }) = &mut self.at_once
            && self.wants.is_none()
            && choices.go_on(*steps)
        {
            *steps += 1;
            return choices.draw(n).0;
        }
        self.asked += 1;
        match self.draws.get(self.asked - 1) {
            Some(&drawn) => drawn,
            None => {
                self.wants.get_or_insert((n, site));
                0
            }
        }
    }
}
