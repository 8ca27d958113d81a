//! Translated code by guest address, shared by all machines of an engine.
//!
//! A slot stands for a guest address in a mode: the address of its code, or of the stub that comes
//! back where there is none yet. All ways to a guest address go through its slot, so a translation
//! is reached, and dropped, by one store.
//!
//! A translation is made in three steps. It is *begun*: the region's words are copied, under the
//! lock. It is *compiled*, without the lock, on whichever thread. It is *published*, under the lock
//! again, unless it was dropped meanwhile: what invalidates translations invalidates those that are
//! begun by the same test.
//!
//! Code memory is filled in generations. When the last but one is full, the oldest is *retired*:
//! no slot leads to it any more, and whoever is inside is called out. When nobody can be in it, it
//! is *reclaimed* and filled again. So there is always room for what runs now.
//!
//! # Safety
//! A thread that runs a dropped translation leaves it at its next exit. Code is overwritten, and
//! slots are given to other addresses, only in generations that nobody is in, which [`presence`]
//! knows.
//!
//! [`presence`]: crate::presence

#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axperf_isa::{Insn, Regs};
use cranelift_codegen::isa::OwnedTargetIsa;

use crate::abi;
use crate::arena::Arena;
use crate::background::{self, Queue, Request};
use crate::compile::{self, Compiler, Object, Target, Words};
use crate::doors::{self, Doors, counted};
use crate::faults::Site;
use crate::presence::{Everyone, Pass, Presence};
use crate::region::{Guest, Region};
use crate::slots::{SLOTS, Slot, SlotCell, Slots};
use crate::store::{self, Kept, Store, StoreError};
use crate::translations::{Translation, Translations, overlaps, pages, touches};
use crate::variant::Mode;

/// Translated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Code(usize);

/// The host can't hold translated code, or has no translator.
#[derive(Debug, thiserror::Error)]
#[error("translated code: {0}")]
pub struct Error(String);

impl Error {
    pub(crate) fn new(why: impl Into<String>) -> Error {
        Error(why.into())
    }
}

/// Settings of a [`Cache`].
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bytes of code at most.
    pub code_limit: usize,
    /// Guest blocks in a region at most.
    pub region_blocks: usize,
    /// Count instructions of regions of more than one block in the state's word.
    pub statistics: bool,
    /// Translate on a thread of its own, while those that want it go on.
    pub background: bool,
    /// Where translations are kept.
    pub on_disk: Option<OnDisk>,
}

/// A file that translations are kept in.
#[derive(Clone, Debug)]
pub struct OnDisk {
    /// The file.
    pub path: PathBuf,
    /// What the caller's instructions depend on: a file of another tag isn't used.
    pub tag: String,
}

/// What a cache has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Regions translated.
    pub translations: u64,
    /// Guest instructions in them.
    pub guest_instructions: u64,
    /// Bytes of host code in them.
    pub code_bytes: u64,
    /// Time spent, in nanoseconds.
    pub translation_ns: u64,
    /// What of it was on the translator's own thread.
    pub background_ns: u64,
    /// Regions whose code came from disk, which aren't counted above.
    pub recalled: u64,
    /// Regions that the translator failed on.
    pub failures: u64,
    /// Times that the oldest code was dropped to make room.
    pub evictions: u64,
}

/// Translated code by guest address.
pub struct Cache {
    shared: Arc<Shared>,
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cache").field("settings", &self.shared.settings).finish_non_exhaustive()
    }
}

/// What the cache and the translator's thread have in common.
pub(crate) struct Shared {
    state: Mutex<State>,
    /// There is something in the queue, or it is to end.
    pub work: Condvar,
    slots: Box<[SlotCell]>,
    /// Begins with 1, and anew whenever slots may come to stand for other addresses.
    epoch: AtomicU64,
    doors: Doors,
    isa: OwnedTargetIsa,
    settings: Settings,
}

pub(crate) struct State {
    arena: Arena,
    slots: Slots,
    translations: Translations,
    /// What is to be reclaimed, by generation.
    retired: Vec<Option<Retired>>,
    everyone: Everyone,
    /// What is begun and not published, or failed.
    pending: HashMap<Slot, Pending>,
    /// Counts what was begun.
    begun: u64,
    pub queue: Queue,
    /// Those that nobody compiles with at the moment.
    compilers: Vec<Compiler>,
    pub stats: Stats,
    store: Store,
    /// Why there is nothing in it, if that isn't as it should be.
    problem: Option<StoreError>,
    /// A forked process, which leaves the file to its parent.
    is_child: bool,
}

/// A translation that is begun: what it will be of, and which beginning this is.
#[derive(Debug)]
struct Pending {
    ticket: Ticket,
    mode: Mode,
    words: Words,
    /// How often its entry was come by, as far as that was told.
    heat: u32,
    failed: bool,
}

/// Tells one beginning from another of the same slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

/// A generation that no slot leads to.
#[derive(Debug)]
struct Retired {
    /// Who enters from this epoch on can't be in it.
    epoch: u64,
    /// Slots that are free when nobody is in it.
    slots: Vec<Slot>,
}

impl Shared {
    pub fn lock(&self) -> MutexGuard<'_, State> {
        // What a panic leaves is whole: it is in the compiler, without the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn compiler(&self) -> Compiler {
        Compiler::new(&self.isa, self.settings.statistics)
    }

    fn code(&self, slot: Slot) -> Option<Code> {
        let code = self.slots[slot.0 as usize].code.load(Ordering::Acquire);
        (!self.doors.untranslated.contains(&code)).then_some(Code(code))
    }

    fn unlink(&self, slot: Slot, mode: Mode) {
        let stub = self.doors.untranslated[counted(mode.poll)];
        self.slots[slot.0 as usize].code.store(stub, Ordering::Release);
    }

    fn slot_in(&self, state: &mut State, pc: u64, mode: Mode) -> Option<Slot> {
        if let Some(slot) = state.slots.get(pc, mode) {
            return Some(slot);
        }
        let slot = match state.slots.add(pc, mode) {
            Some(slot) => slot,
            // Old code holds slots, too.
            None if self.turn(state) => state.slots.add(pc, mode)?,
            None => return None,
        };
        self.slots[slot.0 as usize].pc.store(pc, Ordering::Relaxed);
        self.unlink(slot, mode);
        Some(slot)
    }

    /// Makes room for code: the next generation is filled, and the one after it retired. False if
    /// somebody may still be in the former.
    fn turn(&self, state: &mut State) -> bool {
        let next = state.arena.next(state.arena.current());
        if let Some(retired) = &state.retired[next] {
            if !state.everyone.left_before(retired.epoch) {
                return false;
            }
            for t in state.translations.clear(next) {
                t.exits.iter().chain([&t.slot]).for_each(|s| state.slots.release(*s));
            }
            if let Some(retired) = state.retired[next].take() {
                state.slots.free(retired.slots);
            }
        }
        // SAFETY: no slot led to its code since the epoch began in which it was retired, and nobody
        // is inside who entered before; or it has never had any.
        unsafe { state.arena.turn() };
        self.retire(state, state.arena.next(next));
        true
    }

    fn retire(&self, state: &mut State, generation: usize) {
        if state.translations.of(generation).is_empty() {
            return;
        }
        for t in state.translations.of_mut(generation) {
            if std::mem::take(&mut t.alive) {
                self.unlink(t.slot, t.mode);
            }
        }
        let pending = &state.pending;
        let slots = state.slots.sweep(|slot| pending.contains_key(&slot));
        let epoch = self.epoch.fetch_add(1, Ordering::SeqCst) + 1;
        state.retired[generation] = Some(Retired { epoch, slots });
        // Called out now, they are out when it matters.
        state.everyone.left_before(epoch);
        state.stats.evictions += 1;
    }

    /// Gives an object its place and its slot, if it is still wanted.
    pub fn publish(&self, state: &mut State, request: &Request, object: Option<Object>) {
        let Request { slot, mode, ticket, .. } = *request;
        if !state.wants(slot, ticket) {
            return;
        }
        let Some(object) = object else {
            // It stays begun, so that it isn't tried again until its code changes.
            state.stats.failures += 1;
            if let Some(pending) = state.pending.get_mut(&slot) {
                pending.failed = true;
            }
            return;
        };
        let Some(Pending { words, .. }) = state.pending.remove(&slot) else { return };
        let size = object.code.len() as u64;
        if self.install(state, slot, mode, Kept { words, object }, false).is_some() {
            state.stats.translations += 1;
            state.stats.guest_instructions += request.region.len() as u64;
            state.stats.code_bytes += size;
        }
    }

    /// Makes a slot lead to an object; None if there is no room.
    fn install(
        &self,
        state: &mut State,
        slot: Slot,
        mode: Mode,
        kept: Kept,
        recalled: bool,
    ) -> Option<Code> {
        let Kept { words, mut object } = kept;
        // Held first, so that making room doesn't free them.
        state.slots.hold(slot);
        let mut exits = Vec::new();
        let at = self.place(state, mode, &mut object, &mut exits);
        let Some(at) = at else {
            exits.iter().chain([&slot]).for_each(|s| state.slots.release(*s));
            return None;
        };
        let code = at..at + object.code.len();
        let Object { align, relocations, sites, .. } = object;
        let t = Translation {
            slot,
            mode,
            code,
            words,
            sites,
            align,
            relocations,
            recalled,
            exits,
            alive: true,
        };
        state.translations.add(state.arena.current(), t);
        self.slots[slot.0 as usize].code.store(at, Ordering::Release);
        Some(Code(at))
    }

    /// Takes a translation from disk, if there is one of what `insn` gives.
    fn recall(
        &self,
        state: &mut State,
        slot: Slot,
        (pc, mode): (u64, Mode),
        insn: &mut dyn FnMut(u64) -> Option<Insn>,
    ) -> Option<Code> {
        let mut is_there = |kept: &Kept| {
            kept.words.iter().all(|(pc, words)| {
                let at = |i: usize| pc.wrapping_add(4 * i as u64);
                words.iter().enumerate().all(|(i, w)| insn(at(i)).is_some_and(|i| i.word == *w))
            })
        };
        let kept = state.store.find(pc, mode).find(|k| is_there(k))?;
        let code = self.install(state, slot, mode, kept, true)?;
        state.stats.recalled += 1;
        Some(code)
    }

    /// Puts addresses into an object, and it into code memory. `exits` are the slots held for it.
    fn place(
        &self,
        state: &mut State,
        mode: Mode,
        object: &mut Object,
        exits: &mut Vec<Slot>,
    ) -> Option<usize> {
        for relocation in &object.relocations {
            let address = match relocation.target {
                Target::Slot(pc) => {
                    let slot = self.slot_in(state, pc, mode)?;
                    state.slots.hold(slot);
                    exits.push(slot);
                    self.slot_address(slot)
                }
                Target::Stub(stub) => stub.address() as u64,
            };
            let at = relocation.offset as usize;
            object.code[at..at + 8].copy_from_slice(&address.to_ne_bytes());
        }
        let (code, align) = (&object.code, object.align);
        if let Some(at) = state.arena.add(code, align) {
            return Some(at);
        }
        if code.len() > state.arena.room() || !self.turn(state) {
            return None;
        }
        state.arena.add(code, align)
    }

    fn slot_address(&self, slot: Slot) -> u64 {
        &raw const self.slots[slot.0 as usize] as u64
    }
}

impl State {
    /// Whether that beginning is still to be published.
    pub fn wants(&self, slot: Slot, ticket: Ticket) -> bool {
        self.pending.get(&slot).is_some_and(|p| p.ticket == ticket)
    }

    fn begin(&mut self, slot: Slot, mode: Mode, heat: u32, region: &Region) -> Ticket {
        self.begun += 1;
        let ticket = Ticket(self.begun);
        let words = compile::words(region);
        self.pending.insert(slot, Pending { ticket, mode, words, heat, failed: false });
        ticket
    }

    /// Whether something is begun that has a block at this address, and will be come by on the way
    /// from its entry: that is about as hot. If it isn't, the program stays in a loop behind it.
    fn is_on_the_way(&self, pc: u64, mode: Mode, heat: u32) -> bool {
        self.pending.values().any(|p| {
            p.mode == mode
                && !p.failed
                && heat < p.heat.saturating_mul(3)
                && p.words.iter().any(|(block, _)| *block == pc)
        })
    }
}

impl Cache {
    /// An empty cache.
    ///
    /// # Errors
    /// The host has no translator, or no memory for code.
    pub fn new(settings: &Settings) -> Result<Cache, Error> {
        let isa = doors::isa()?;
        let doors = Doors::new(&isa)?;
        let arena = Arena::new(settings.code_limit).map_err(|e| Error(e.to_string()))?;
        let generations = arena.generations();
        // SAFETY: zero is a valid SlotCell.
        let slots = unsafe { Box::<[SlotCell]>::new_zeroed_slice(SLOTS).assume_init() };
        let read = |d: &OnDisk| Store::read(&d.path, fingerprint(&isa, settings, &d.tag));
        let (store, problem) = match settings.on_disk.as_ref().map(read).transpose() {
            Ok(store) => (store.unwrap_or_default(), None),
            Err(e) => (Store::default(), Some(e)),
        };
        let state = State {
            store,
            problem,
            is_child: false,
            arena,
            slots: Slots::default(),
            translations: Translations::new(generations),
            retired: (0..generations).map(|_| None).collect(),
            everyone: Everyone::default(),
            pending: HashMap::new(),
            begun: 0,
            queue: Queue::default(),
            compilers: Vec::new(),
            stats: Stats::default(),
        };
        let (state, work, settings) = (Mutex::new(state), Condvar::new(), settings.clone());
        let epoch = AtomicU64::new(1);
        Ok(Cache { shared: Arc::new(Shared { state, work, slots, epoch, doors, isa, settings }) })
    }

    /// Lets a machine in.
    #[must_use]
    pub fn admit(&self, machine: Arc<dyn Presence>) -> Pass {
        self.shared.lock().everyone.add(&machine);
        Pass::new(machine, self.epoch().load(Ordering::SeqCst))
    }

    /// The epoch, as [`Pass`] compares it.
    pub(crate) fn epoch(&self) -> &AtomicU64 {
        &self.shared.epoch
    }

    /// The slot of a guest address; None if there are no more.
    pub fn slot(&self, pc: u64, mode: Mode) -> Option<Slot> {
        self.shared.slot_in(&mut self.shared.lock(), pc, mode)
    }

    /// The code of a slot, if it has some.
    #[must_use]
    #[inline]
    pub fn code(&self, slot: Slot) -> Option<Code> {
        self.shared.code(slot)
    }

    /// Where translated code finds the slot.
    #[must_use]
    pub fn slot_address(&self, slot: Slot) -> u64 {
        self.shared.slot_address(slot)
    }

    /// Translates the region at `pc`, at once or in the background, where the greatest `heat` comes
    /// first; its code, if it has some by now. There is none either if there is no instruction or
    /// no room.
    pub fn translate(&self, pc: u64, mode: Mode, heat: u32, guest: &mut dyn Guest) -> Option<Code> {
        let shared = &self.shared;
        let mut guard = shared.lock();
        let state = &mut *guard;
        let slot = shared.slot_in(state, pc, mode)?;
        if let Some(code) = shared.code(slot) {
            return Some(code);
        }
        if let Some(pending) = state.pending.get_mut(&slot) {
            pending.heat = heat;
            state.queue.heat(slot, heat);
            return None;
        }
        if state.is_on_the_way(pc, mode, heat) {
            return None;
        }
        let mut insn = |pc| guest.insn(pc);
        if let Some(code) = shared.recall(state, slot, (pc, mode), &mut insn) {
            return Some(code);
        }
        if state.queue.is_full() {
            return None;
        }
        let region = {
            // What others translate is as good as translated.
            let taken = |pc| {
                let slot = state.slots.get(pc, mode);
                slot.is_some_and(|s| shared.code(s).is_some() || state.pending.contains_key(&s))
            };
            Region::find(pc, shared.settings.region_blocks, guest, &taken)?
        };
        let ticket = state.begin(slot, mode, heat, &region);
        let request = Request { slot, mode, ticket, region, heat };
        if shared.settings.background && background::start(shared, state) {
            state.queue.add(request);
            shared.work.notify_one();
            return None;
        }
        let compiler = state.compilers.pop();
        drop(guard);
        let start = Instant::now();
        let mut compiler = compiler.unwrap_or_else(|| shared.compiler());
        let object = compiler.compile(&request.region, mode);
        let state = &mut *shared.lock();
        state.compilers.push(compiler);
        shared.publish(state, &request, object);
        state.spent(start.elapsed(), false);
        shared.code(slot)
    }

    /// Whether there are translations from disk.
    #[must_use]
    pub fn recalls(&self) -> bool {
        self.shared.lock().store.len() > 0
    }

    /// The translation of the region at `pc` that is on disk, if one is, of the instructions that
    /// `insn` gives.
    pub fn recall(
        &self,
        pc: u64,
        mode: Mode,
        insn: &mut dyn FnMut(u64) -> Option<Insn>,
    ) -> Option<Code> {
        let shared = &self.shared;
        let state = &mut *shared.lock();
        let slot = shared.slot_in(state, pc, mode)?;
        if let Some(code) = shared.code(slot) {
            return Some(code);
        }
        if state.pending.contains_key(&slot) {
            return None;
        }
        shared.recall(state, slot, (pc, mode), insn)
    }

    /// Why translations on disk aren't used, if that isn't as it should be.
    #[must_use]
    pub fn disk_problem(&self) -> Option<String> {
        self.shared.lock().problem.as_ref().map(ToString::to_string)
    }

    /// Writes what is translated to disk, if there is much that isn't there yet; how many
    /// translations that were.
    ///
    /// # Errors
    /// Why it can't be written.
    pub fn save(&self) -> Result<usize, StoreError> {
        let shared = &self.shared;
        let Some(disk) = &shared.settings.on_disk else { return Ok(0) };
        let state = shared.lock();
        let alive = || state.translations.iter().filter(|t| t.alive);
        let new = alive().filter(|t| !t.recalled).count();
        if state.is_child || new == 0 || new * MUCH < state.store.len() {
            return Ok(0);
        }
        let encoded: Vec<(u64, u32, Vec<u8>)> = alive()
            .filter_map(|t| {
                let code = state.arena.code(&t.code);
                let bytes = store::encode(&t.words, code, t.align, &t.relocations, &t.sites);
                Some((t.words.first()?.0, store::mode_bits(t.mode), bytes))
            })
            .collect();
        let fingerprint = fingerprint(&shared.isa, &shared.settings, &disk.tag);
        state.store.write(&disk.path, fingerprint, &encoded)?;
        Ok(encoded.len())
    }

    /// Runs translated code; what is left of the budget. Why it came back stands in the state.
    ///
    /// # Safety
    /// `state` is a [`Regs`] with the poll flag after it, that nothing else reaches meanwhile but
    /// that flag; the words that the mode's memory needs are set, and their memory is alive. `code`
    /// is of this cache.
    pub unsafe fn enter(&self, state: *mut Regs, code: Code, mode: Mode, budget: u64) -> u64 {
        let door = self.shared.doors.enter[counted(mode.poll)];
        // SAFETY: the caller's; trampoline and code are of this cache.
        unsafe { abi::enter(state.cast(), door, code.0, budget) }
    }

    /// The guest instruction of the host instruction at `pc`, which faulted.
    #[must_use]
    pub fn site(&self, pc: u64) -> Option<Site> {
        let pc = pc as usize;
        let state = self.shared.lock();
        let t = state.translations.at(state.arena.generation_of(pc)?, pc)?;
        let offset = (pc - t.code.start) as u32;
        let i = t.sites.partition_point(|(o, _)| *o <= offset);
        let (_, site) = t.sites.get(i.checked_sub(1)?)?;
        Some(*site)
    }

    /// Drops what was translated from this range of guest addresses. Machines that may be in it come
    /// out, where they look for a kick.
    pub fn invalidate(&self, range: Range<u64>) {
        let mut page = |page| touches(page, &range);
        let mut gone = |words: &Words| overlaps(words, &range);
        let state = &mut *self.shared.lock();
        if self.drop_where(state, &mut page, &mut gone) {
            state.everyone.call_out();
        }
    }

    /// Drops what was translated from other words than memory holds now. Only pages for which
    /// `may_change` holds are looked at; `same` compares memory with words.
    pub fn revalidate(
        &self,
        may_change: &mut dyn FnMut(u64) -> bool,
        same: &mut dyn FnMut(u64, &[u32]) -> bool,
    ) {
        let mut gone = |words: &Words| words.iter().any(|(pc, list)| !same(*pc, list));
        self.drop_where(&mut self.shared.lock(), may_change, &mut gone);
    }

    /// Whether there was any.
    fn drop_where(
        &self,
        state: &mut State,
        page: &mut dyn FnMut(u64) -> bool,
        gone: &mut dyn FnMut(&Words) -> bool,
    ) -> bool {
        state.pending.retain(|_, p| !(pages(&p.words).iter().any(|n| page(*n)) && gone(&p.words)));
        let mut any = false;
        for t in state.translations.in_pages(page) {
            if gone(&t.words) {
                t.alive = false;
                self.shared.unlink(t.slot, t.mode);
                any = true;
            }
        }
        any
    }

    /// What was done so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.shared.lock().stats
    }

    /// The host's number of the translator's own thread, if it runs.
    #[must_use]
    pub fn background_thread(&self) -> Option<i32> {
        self.shared.lock().queue.thread_id()
    }

    /// Waits until all that is begun is published: for tests.
    pub fn settle(&self) {
        let mut state = self.shared.lock();
        while state.queue.is_busy() {
            drop(state);
            std::thread::sleep(Duration::from_micros(100));
            state = self.shared.lock();
        }
    }

    /// Holds the cache still, so that the process can fork.
    #[must_use]
    pub fn hold(&self) -> Hold<'_> {
        Hold { cache: self, state: self.shared.lock() }
    }
}

/// Translations on disk are written anew if one in so many is new.
const MUCH: usize = 16;

/// What code on disk depends on beside the guest's: the translator, the host, the settings.
fn fingerprint(isa: &OwnedTargetIsa, settings: &Settings, tag: &str) -> u64 {
    let flags: Vec<String> = isa.isa_flags().iter().map(|f| f.to_string()).collect();
    let all = format!(
        "{} {} {} {} {} {:?} {} {} {tag}",
        env!("CARGO_PKG_VERSION"),
        env!("AXPERF_JIT_SOURCES"),
        cranelift_codegen::VERSION,
        isa.triple(),
        isa.flags(),
        flags,
        settings.region_blocks,
        settings.statistics,
    );
    store::digest(all.as_bytes())
}

impl State {
    /// Notes how long a translation took.
    pub fn spent(&mut self, time: Duration, in_background: bool) {
        let ns = time.as_nanos() as u64;
        self.stats.translation_ns += ns;
        if in_background {
            self.stats.background_ns += ns;
        }
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        background::stop(&self.shared);
    }
}

/// The cache, held still.
pub struct Hold<'a> {
    cache: &'a Cache,
    state: MutexGuard<'a, State>,
}

impl std::fmt::Debug for Hold<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hold")
    }
}

impl Hold<'_> {
    /// In the child of a fork, before it runs guest code: neither the parent's code nor its
    /// translator's thread is there, so the cache becomes an empty one.
    ///
    /// # Errors
    /// There is no memory for code.
    pub fn in_child(mut self) -> Result<(), Error> {
        let shared = &self.cache.shared;
        let state = &mut *self.state;
        let arena = Arena::new(shared.settings.code_limit).map_err(|e| Error(e.to_string()))?;
        std::mem::replace(&mut state.arena, arena).forget_after_fork();
        state.translations.clear_all();
        state.pending.clear();
        state.queue.forget_after_fork();
        state.is_child = true;
        state.everyone.forget_after_fork();
        state.slots.release_all();
        for retired in state.retired.iter_mut().filter_map(Option::take) {
            state.slots.free(retired.slots);
        }
        for (slot, mode) in state.slots.iter() {
            shared.unlink(slot, mode);
        }
        shared.epoch.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::variant::{Class, Poll, Shape};
    use axperf_isa::Insn;

    pub const MODE: Mode = Mode {
        shape: Shape::Flat,
        poll: Poll::Counted,
        class: Class::Full,
        precise: false,
        trapless: false,
    };

    /// Requests for the same region, of these heats, in slots of their own.
    pub fn requests(heats: &[u32]) -> Vec<Request> {
        let nop = axperf_isa::decode(0x47ff_041f);
        let request = |(i, heat): (usize, &u32)| Request {
            slot: Slot(i as u32),
            mode: MODE,
            ticket: Ticket(i as u64),
            region: Region::find(0, 1, &mut |pc| nop.filter(|_| pc < 8), &|_| false).unwrap(),
            heat: *heat,
        };
        heats.iter().enumerate().map(request).collect()
    }

    fn cache(background: bool) -> Cache {
        let settings = Settings {
            code_limit: 1 << 20,
            region_blocks: usize::MAX,
            statistics: false,
            background,
            on_disk: None,
        };
        Cache::new(&settings).unwrap()
    }

    /// Eight words `addq $1, n, $1` and a return.
    fn code(n: u32) -> impl FnMut(u64) -> Option<Insn> {
        move |pc| match pc {
            0..32 => axperf_isa::decode(0x4020_1401 | n << 13),
            32 => axperf_isa::decode(0x6bfa_8001),
            _ => None,
        }
    }

    /// Whether words are those of [`code`].
    fn holds(n: u32) -> impl FnMut(u64, &[u32]) -> bool {
        let mut code = code(n);
        move |pc, words| (pc..).step_by(4).zip(words).all(|(pc, w)| code(pc).unwrap().word == *w)
    }

    #[test]
    fn background_and_foreground_translate_the_same() {
        let bytes = [false, true].map(|background| {
            let cache = cache(background);
            let slot = cache.slot(0, MODE).unwrap();
            let code = cache.translate(0, MODE, 1, &mut code(1));
            assert_eq!(code.is_some(), !background);
            cache.settle();
            assert!(cache.code(slot).is_some());
            let stats = cache.stats();
            assert_eq!((stats.translations, stats.guest_instructions), (1, 9));
            assert_eq!(stats.background_ns > 0, background);
            stats.code_bytes
        });
        assert_eq!(bytes[0], bytes[1]);
    }

    /// A block of what is being translated isn't asked for on its own, if it isn't much hotter.
    #[test]
    fn what_is_on_the_way_waits() {
        let cache = cache(true);
        // The way of a queue that nobody works off: the thread waits for this lock.
        let state = &mut *cache.shared.lock();
        let slot = cache.shared.slot_in(state, 0, MODE).unwrap();
        // bne $1, 0; ret.
        let loops = |pc| match pc {
            0 | 4 => axperf_isa::decode(0x4020_3401),
            8 => axperf_isa::decode(0xf43f_fffe),
            12 => axperf_isa::decode(0x6bfa_8001),
            _ => None,
        };
        let region = Region::find(0, usize::MAX, &mut { loops }, &|_| false).unwrap();
        let blocks: Vec<u64> = region.blocks.iter().map(|b| b.pc).collect();
        assert!(blocks.len() > 1, "{blocks:x?}");
        state.begin(slot, MODE, 100, &region);
        let last = *blocks.last().unwrap();
        assert!(state.is_on_the_way(last, MODE, 100));
        assert!(state.is_on_the_way(last, MODE, 299));
        assert!(!state.is_on_the_way(last, MODE, 300));
        assert!(!state.is_on_the_way(0x40, MODE, 100));
        assert!(!state.is_on_the_way(last, Mode { precise: true, ..MODE }, 100));
    }

    /// Code that changes between the request and the end of its translation isn't published,
    /// whenever that is.
    #[test]
    fn what_changed_meanwhile_is_not_published() {
        let cache = cache(true);
        let slot = cache.slot(0, MODE).unwrap();
        for i in 0..40u32 {
            assert_eq!(cache.translate(0, MODE, 1, &mut code(i)), None);
            std::thread::sleep(Duration::from_micros(u64::from(i % 8) * 100));
            match i % 2 {
                0 => cache.invalidate(16..20),
                _ => cache.revalidate(&mut |_| true, &mut holds(i + 1)),
            }
            if i % 4 < 2 {
                cache.settle();
            }
            assert_eq!(cache.code(slot), None, "round {i}");
        }
        cache.translate(0, MODE, 1, &mut code(99));
        cache.revalidate(&mut |_| true, &mut holds(99));
        cache.revalidate(&mut |page| page != 0, &mut holds(98));
        cache.invalidate(36..40);
        cache.settle();
        assert!(cache.code(slot).is_some());
    }

    /// A child of a fork has an empty cache, and translates with a thread of its own.
    #[test]
    fn in_a_child() {
        let cache = cache(true);
        let slot = cache.slot(0, MODE).unwrap();
        cache.translate(0, MODE, 1, &mut code(1));
        let hold = cache.hold();
        // SAFETY: the child touches the cache, whose lock this thread holds, and nothing else that
        // another thread could have locked.
        let pid = unsafe { libc::fork() };
        assert!(pid >= 0);
        if pid == 0 {
            let ok = hold.in_child().is_ok() && {
                let empty = cache.code(slot).is_none();
                cache.translate(0, MODE, 1, &mut code(2));
                cache.settle();
                empty && cache.code(slot).is_some()
            };
            drop(cache);
            // SAFETY: ends the child without what the test harness would do at exit.
            unsafe { libc::_exit(i32::from(!ok)) };
        }
        drop(hold);
        let mut status = -1;
        // SAFETY: waits for the child just made.
        unsafe { libc::waitpid(pid, &mut status, 0) };
        assert_eq!(status, 0);
        cache.settle();
        assert!(cache.code(slot).is_some());
    }
}
