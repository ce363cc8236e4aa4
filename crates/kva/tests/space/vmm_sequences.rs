//! What went wrong in virtual machine monitors when a guest moved its devices, played on a space: each sequence is that of
//! a public report, with what happened there.

use freehold_kva::{AddressSpace, AllocError, FreeError, MoveError, PendingMove, Placement, Request};
use freehold_units::{Align, Span};
use std::collections::BTreeMap;

/// A BAR of a virtio device.
const BAR: u64 = 0x8_0000;
const MMIO: u64 = 0x10_0000_0000;

type Bus = AddressSpace<&'static str>;

fn bar(at: u64) -> Span {
    Span::from_size(MMIO + at * BAR, BAR).unwrap()
}

/// Room for 64 BARs.
fn bus(placement: Placement) -> Bus {
    let whole = Span::from_size(MMIO, 64 * BAR).unwrap();
    Bus::new(whole, Align::PAGE, placement).unwrap()
}

/// Devices side by side from the start of the bus on.
fn devices(placement: Placement, names: &[&'static str]) -> Bus {
    let mut bus = bus(placement);
    for (at, &name) in (0..).zip(names) {
        bus.alloc(&Request::natural(BAR).window(bar(at)), name).unwrap();
    }
    bus
}

fn owner(bus: &Bus, address: u64) -> Option<&'static str> {
    bus.validate().unwrap();
    bus.region_at(address).map(|region| *region.value())
}

/// The doorbells that the kernel has: two of the same address are refused, as KVM does with `EEXIST`.
#[derive(Default)]
struct Doorbells(BTreeMap<u64, &'static str>);

impl Doorbells {
    fn register(&mut self, bar: Span, device: &'static str) -> Result<(), &'static str> {
        match self.0.get(&(bar.first() + 0x3000)) {
            Some(other) => Err(other),
            None => {
                self.0.insert(bar.first() + 0x3000, device);
                Ok(())
            }
        }
    }

    fn unregister(&mut self, bar: Span) {
        self.0.remove(&(bar.first() + 0x3000)).unwrap();
    }
}

/// cloud-hypervisor #8572: a move freed the old BAR first; a device that was plugged in meanwhile got it while its
/// ioeventfd was still registered there, and KVM refused the newcomer's with `EEXIST`.
fn an_old_place_is_not_given_away_before_its_doorbells_are_gone(placement: Placement) {
    let mut bus: Bus = devices(placement, &["disk"]);
    let mut doorbells = Doorbells::default();
    let old = bar(0);
    doorbells.register(old, "disk").unwrap();

    let token = bus.begin_move(old.first(), bar(9).first()).unwrap();
    // All that is free is plugged full meanwhile: nobody gets either place, nor a doorbell that rings elsewhere.
    let mut plugged = Vec::new();
    while let Ok(place) = bus.alloc(&Request::natural(BAR), "pmem") {
        assert!(!place.overlaps(old) && !place.overlaps(bar(9)));
        doorbells.register(place, "pmem").unwrap();
        plugged.push(place);
    }
    assert_eq!(plugged.len(), 62);
    let wanted = bus.alloc_at(old, "pmem").unwrap_err();
    assert_eq!(wanted.cause, AllocError::Occupied { region: old });
    assert!(matches!(bus.alloc_at(bar(9), "pmem").unwrap_err().cause, AllocError::Occupied { .. }));

    doorbells.unregister(old);
    doorbells.register(bar(9), "disk").unwrap();
    assert_eq!(bus.commit_move(token), Ok(bar(9)));
    assert_eq!(owner(&bus, old.first()), None);
    let late = bus.alloc(&Request::natural(BAR), "late").unwrap();
    assert_eq!(late, old);
    assert_eq!(doorbells.register(late, "late"), Ok(()));
}

/// cloud-hypervisor #8202: a Windows guest moved devices onto each other's places, which is legitimate as a whole, but
/// each single move met a live device, was refused and tried again, and the boot never ended.
fn devices_change_places_with_one_another(placement: Placement) {
    let mut bus: Bus = devices(placement, &["disk", "nic", "rng", "console"]);
    // One by one there is no order that works.
    for (from, to) in [(0, 1), (1, 2), (2, 0)] {
        let error = bus.begin_move(bar(from).first(), bar(to).first()).unwrap_err();
        assert_eq!(error, MoveError::Place(AllocError::Occupied { region: bar(to) }));
    }
    let moves = [(0, 1), (1, 2), (2, 0), (3, 20)].map(|(from, to): (u64, u64)| (bar(from).first(), bar(to)));
    bus.rearrange(&moves).unwrap();
    for (at, name) in [(1, "disk"), (2, "nic"), (0, "rng"), (20, "console")] {
        assert_eq!(owner(&bus, bar(at).last()), Some(name));
    }
    assert_eq!(owner(&bus, bar(3).first()), None);
    // With one that cannot be had, nobody moves.
    let before = bus.clone();
    let beyond = Span::from_size(MMIO - BAR, BAR).unwrap();
    let error = bus.rearrange(&[(bar(0).first(), bar(1)), (bar(1).first(), beyond)]).unwrap_err();
    assert!(matches!(error, MoveError::Place(AllocError::PlaceOutside { .. })), "{error}");
    assert!(bus == before);
}

/// cloud-hypervisor #8203: the old BAR was freed before the new one was had; when that failed, the old one stayed free for
/// the allocator though the device was still mapped there, and the next device to be plugged in collided with it.
fn a_move_that_fails_leaves_the_device_where_it_is(placement: Placement) {
    let mut bus: Bus = devices(placement, &["disk", "nic"]);
    let before = bus.clone();
    let taken = bus.begin_move(bar(0).first(), bar(1).first());
    assert_eq!(taken, Err(MoveError::Place(AllocError::Occupied { region: bar(1) })));
    assert!(bus == before);
    assert_eq!((owner(&bus, bar(0).first()), owner(&bus, bar(1).first())), (Some("disk"), Some("nic")));
    for _ in 2..64 {
        let place = bus.alloc(&Request::natural(BAR), "plugged").unwrap();
        assert!(!place.overlaps(bar(0)) && !place.overlaps(bar(1)));
    }
    assert!(bus.alloc(&Request::natural(BAR), "one too many").is_err());
}

/// cloud-hypervisor #7938: a guest's driver wrote an address that no allocator had into a BAR; the move failed half-way,
/// the register said one place and the bus another, and the monitor crashed.
fn no_address_of_a_guest_does_harm(placement: Placement) {
    let mut bus: Bus = devices(placement, &["disk", "nic"]);
    let before = bus.clone();
    let edges = [
        0,
        1,
        0xfff,
        MMIO - BAR,
        MMIO - 1,
        MMIO + 1,
        MMIO + 0x1000,
        MMIO + 64 * BAR,
        MMIO + 63 * BAR + 0x1000,
    ];
    let wild = (0..64).flat_map(|shift| [1 << shift, u64::MAX << shift, u64::MAX >> shift]);
    for to in edges.into_iter().chain(wild) {
        let error = bus.begin_move(bar(0).first(), to).unwrap_err();
        match error {
            MoveError::Misaligned { align, .. } => assert!(align.bytes() == BAR && !align.divides(to)),
            MoveError::Place(AllocError::PlaceOutside { .. }) | MoveError::PastTheEnd { .. } => {}
            MoveError::SamePlace { region } => assert_eq!((region, to), (bar(0), MMIO)),
            error => panic!("{to:#x}: {error}"),
        }
        // Nor one that it says the device has.
        if to != MMIO && to != MMIO + BAR {
            assert!(matches!(bus.begin_move(to, bar(9).first()), Err(MoveError::Address(_))));
        }
        let place = Span::from_size(to, BAR).unwrap_or(Span::new(to, u64::MAX).unwrap());
        assert!(bus.rearrange(&[(bar(0).first(), place), (bar(1).first(), bar(0))]).is_err());
        assert!(bus == before, "{to:#x}");
        // The register is set back to what the bus says.
        assert_eq!(bus.region_at(bar(0).first()).unwrap().span(), bar(0));
    }
}

/// Firecracker #6095: a move was three steps, allocator, bus and doorbells, each undone by hand when a later one failed, and
/// the old range was given back after all of them by a call that was not to fail.
fn a_step_that_fails_later_is_undone_by_one_call(placement: Placement) {
    let mut bus: Bus = devices(placement, &["disk", "nic"]);
    let mut doorbells = Doorbells::default();
    doorbells.register(bar(0), "disk").unwrap();
    // Something else rings there, so that the last step fails.
    doorbells.register(bar(7), "stray").unwrap();
    let before = bus.clone();

    let relocate = |bus: &mut Bus, doorbells: &mut Doorbells, to: u64| -> Result<PendingMove, MoveError> {
        let token = bus.begin_move(bar(0).first(), bar(to).first())?;
        match doorbells.register(bar(to), "disk") {
            Ok(()) => {
                doorbells.unregister(bar(0));
                bus.commit_move(token)?;
            }
            Err(_) => bus.cancel_move(token)?,
        }
        Ok(token)
    };
    let failed = relocate(&mut bus, &mut doorbells, 7).unwrap();
    assert!(bus == before);
    assert_eq!((owner(&bus, bar(0).first()), owner(&bus, bar(7).first())), (Some("disk"), None));
    // Undone once is undone: what is left of the token does nothing.
    assert_eq!(bus.commit_move(failed), Err(MoveError::Ended { first: bar(0).first() }));
    assert_eq!(bus.alloc_at(bar(7), "stray").unwrap(), bar(7));

    let _ended = relocate(&mut bus, &mut doorbells, 8).unwrap();
    assert_eq!((owner(&bus, bar(0).first()), owner(&bus, bar(8).first())), (None, Some("disk")));
    // The old range is free, once.
    let block = Span::new(bar(0).first(), bar(0).last()).unwrap();
    let again = bus.free(bar(0).first());
    assert_eq!(again, Err(FreeError::AlreadyFree { address: block.first(), block }));
}

each_placement!(
    { lowest: Lowest, best_fit: BestFit },
    an_old_place_is_not_given_away_before_its_doorbells_are_gone,
    devices_change_places_with_one_another,
    a_move_that_fails_leaves_the_device_where_it_is,
    no_address_of_a_guest_does_harm,
    a_step_that_fails_later_is_undone_by_one_call,
);
