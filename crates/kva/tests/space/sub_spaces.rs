//! Sub-spaces: what belongs to whom, what may be done to a carved region, and trees of spaces that live on their
//! own and are given back.

use freehold_kva::{
    AddressSpace, AdoptError, AllocError, FreeError, LayoutError, MoveError, OutOfMemory, Placement,
    Rejected, Request, ResizeError, ReturnError,
};
use freehold_units::{Align, Span};
use proptest::prelude::*;

const PAGE: u64 = 4096;

fn pages(first: u64, count: u64) -> Span {
    Span::from_size(first * PAGE, count * PAGE).unwrap()
}

fn request(count: u64) -> Request {
    Request::new(count * PAGE)
}

fn space(placement: Placement, pages_: u64) -> AddressSpace<&'static str> {
    AddressSpace::new(pages(0, pages_), Align::PAGE, placement).unwrap()
}

fn carve(
    parent: &mut AddressSpace<&'static str>,
    request: &Request,
    owner: &'static str,
) -> AddressSpace<&'static str> {
    parent.carve(request, owner, Placement::Lowest).unwrap()
}

fn bytes(space: &AddressSpace<&'static str>) -> Result<Vec<u8>, OutOfMemory> {
    space.validate().unwrap();
    space.to_bytes(|owner, to| to.put(owner.as_bytes()))
}

fn cause<T, E>(refused: Result<impl Sized, Rejected<T, E>>) -> Option<E> {
    refused.err().map(|rejected| rejected.cause)
}

fn a_carved_region_stays_as_it_is(placement: Placement) {
    let mut bus = space(placement, 64);
    let window: AddressSpace<_> = carve(&mut bus, &request(8).guard(PAGE), "bridge");
    assert_eq!(
        (window.span(), window.granule(), window.stats().free_bytes),
        (pages(0, 8), Align::PAGE, 8 * 4096)
    );
    let before = bytes(&bus);
    let region = pages(0, 8);
    let carved = FreeError::Carved { region };
    assert_eq!(bus.free(0), Err(carved));
    assert_eq!(bus.resize(0, PAGE), Err(ResizeError::Address(carved)));
    assert_eq!(bus.resize(0, 16 * PAGE), Err(ResizeError::Address(carved)));
    assert_eq!(bus.begin_move(0, 8 * PAGE), Err(MoveError::Address(carved)));
    assert_eq!(bus.free(PAGE), Err(FreeError::Interior { address: PAGE, region }));
    assert_eq!(bus.alloc_at(pages(8, 1), "nic").unwrap_err().cause, AllocError::Occupied { region });
    assert_eq!(bytes(&bus), before);
    assert!(bus.region_at(5 * PAGE).unwrap().is_carved());
    *bus.value_at_mut(5 * PAGE).unwrap() = "bridge 1";
    assert_eq!(bus.take_back(window).unwrap(), (region, "bridge 1"));
    assert_eq!(bus.free_blocks().collect::<Vec<_>>(), [pages(0, 64)]);
    assert!(matches!(bus.free(0), Err(FreeError::AlreadyFree { .. })));
}

fn a_sub_space_gets_no_other_addresses(placement: Placement) {
    let mut bus = space(placement, 64);
    let mut window: AddressSpace<_> = carve(&mut bus, &request(8), "bridge");
    let before = bytes(&window);
    assert_eq!(window.add(pages(8, 8)), Err(LayoutError::SubSpace { space: pages(0, 8) }));
    assert_eq!(bytes(&window), before);
    assert!(window.is_sub_space() && !bus.is_sub_space());
    // A copy is nobody's, and may grow.
    let mut copy =
        AddressSpace::from_bytes(&before.unwrap(), window.placement(), |_| Ok::<_, ()>("")).unwrap();
    assert!(!copy.is_sub_space());
    assert_eq!(copy.add(pages(8, 8)), Ok(()));
}

fn strangers_are_sent_back(placement: Placement) {
    let (mut ours, mut theirs) = (space(placement, 64), space(placement, 64));
    let window: AddressSpace<_> = carve(&mut ours, &request(8), "ours");
    let twin: AddressSpace<_> = carve(&mut theirs, &request(8), "theirs");
    let (before, before_theirs) = (bytes(&ours), bytes(&theirs));
    let foreign = Some(ReturnError::Foreign { space: pages(0, 8) });
    // Equal in all, but another's; one's own, but a copy; made, not carved.
    let twin = ours.take_back(twin).unwrap_err();
    assert_eq!(Some(twin.cause), foreign);
    assert_eq!(cause(ours.take_back(window.clone())), foreign);
    assert_eq!(cause(ours.take_back(space(placement, 8))), foreign);
    assert_eq!(
        cause(ours.take_back(space(placement, 64))),
        Some(ReturnError::Foreign { space: pages(0, 64) })
    );
    assert_eq!((bytes(&ours), bytes(&theirs)), (before, before_theirs));
    // Each is welcome where it comes from.
    assert_eq!(ours.take_back(window).unwrap(), (pages(0, 8), "ours"));
    assert_eq!(theirs.take_back(twin.value).unwrap(), (pages(0, 8), "theirs"));
}

fn what_lives_in_it_is_named(placement: Placement) {
    let mut bus = space(placement, 64);
    let mut window: AddressSpace<_> = carve(&mut bus, &request(16), "bridge");
    let mut inner: AddressSpace<_> = carve(&mut window, &request(4).window(pages(8, 4)), "bridge below");
    inner.alloc(&request(1), "nic").unwrap();
    let (before, before_window, before_inner) = (bytes(&bus), bytes(&window), bytes(&inner));
    let refused = bus.take_back(window).unwrap_err();
    assert_eq!(refused.cause, ReturnError::InUse { region: pages(8, 4) });
    let mut window = refused.value;
    // Of another generation.
    let refused = bus.take_back(inner).unwrap_err();
    assert_eq!(refused.cause, ReturnError::Foreign { space: pages(8, 4) });
    let mut inner = refused.value;
    assert_eq!((bytes(&bus), bytes(&window), bytes(&inner)), (before, before_window, before_inner));
    inner.free(pages(8, 1).first()).unwrap();
    assert_eq!(window.take_back(inner).unwrap(), (pages(8, 4), "bridge below"));
    assert_eq!(bus.take_back(window).unwrap(), (pages(0, 16), "bridge"));
}

fn what_was_given_up_does_not_come_back(placement: Placement) {
    let mut bus = space(placement, 64);
    let window: AddressSpace<_> = carve(&mut bus, &request(8), "bridge");
    assert!(bus.disown(0));
    assert!(!bus.disown(0) && !bus.disown(PAGE) && !bus.disown(u64::MAX));
    assert!(!bus.region_at(0).unwrap().is_carved());
    let window = bus.take_back(window).unwrap_err();
    assert_eq!(window.cause, ReturnError::Foreign { space: pages(0, 8) });
    bus.free(0).unwrap();
    // The same place again: still a stranger.
    let next: AddressSpace<_> = carve(&mut bus, &request(8), "another");
    assert!(bus.take_back(window.value).is_err());
    assert_eq!(bus.take_back(next).unwrap(), (pages(0, 8), "another"));
}

fn only_what_fits_is_adopted(placement: Placement) {
    let mut bus = space(placement, 64);
    bus.alloc(&request(8).guard(PAGE), "bridge").unwrap();
    let before = bytes(&bus);
    let (region, page) = (pages(0, 8), Align::PAGE);
    let new = |layout: &[Span], granule| {
        AddressSpace::<()>::with_layout(layout, granule, Default::default()).unwrap()
    };
    for (first, mut child, error) in [
        (PAGE, new(&[region], page), AdoptError::Address(FreeError::Interior { address: PAGE, region })),
        (1 << 40, new(&[region], page), AdoptError::Address(FreeError::Unknown { address: 1 << 40 })),
        (0, new(&[pages(0, 9)], page), AdoptError::Unlike { region, space: pages(0, 9) }),
        (0, new(&[pages(0, 2), pages(6, 2)], page), AdoptError::Unlike { region, space: region }),
        (0, new(&[region], Align::ONE), AdoptError::Granule { parent: page, child: Align::ONE }),
    ] {
        assert_eq!(bus.adopt(first, &mut child), Err(error));
        assert!(!child.is_sub_space() && !error.to_string().is_empty());
        assert_eq!(bytes(&bus), before);
    }
    // Any space of the right addresses will do, with what is in it.
    let mut child = new(&[region], page);
    child.alloc(&request(1), ()).unwrap();
    assert_eq!(bus.adopt(0, &mut child), Ok(region));
    let out = AdoptError::Address(FreeError::Carved { region });
    assert_eq!(bus.adopt(0, &mut new(&[region], page)), Err(out));
    let mut other = bus.clone();
    assert_eq!(other.adopt(0, &mut child), Err(AdoptError::HasParent { space: region }));
    child.free(0).unwrap();
    assert_eq!(other.take_back(child.clone()).unwrap_err().cause, ReturnError::Foreign { space: region });
    assert_eq!(bus.take_back(child).unwrap(), (region, "bridge"));
}

/// A tree is copied, or moved, space by space, and tied together again.
fn copies_and_restored_trees_adopt_theirs(placement: Placement) {
    let mut bus = space(placement, 64);
    let mut window: AddressSpace<_> = carve(&mut bus, &request(8), "bridge");
    window.alloc(&request(2), "nic").unwrap();
    let name = |bytes: &[u8]| match bytes {
        b"nic" => Ok("nic"),
        b"bridge" => Ok("bridge"),
        _ => Err("unknown device"),
    };
    let restored_bus = AddressSpace::from_bytes(&bytes(&bus).unwrap(), placement, name).unwrap();
    let restored_window = AddressSpace::from_bytes(&bytes(&window).unwrap(), placement, name).unwrap();
    tied_again(restored_bus, restored_window);
    tied_again(bus.clone(), window.clone());
    // The originals have noticed nothing.
    window.free(0).unwrap();
    assert_eq!(bus.take_back(window).unwrap(), (pages(0, 8), "bridge"));
}

fn tied_again(mut bus: AddressSpace<&'static str>, mut window: AddressSpace<&'static str>) {
    let carved: Vec<Span> =
        bus.regions().filter(|region| region.is_carved()).map(|region| region.span()).collect();
    assert_eq!(carved, [pages(0, 8)]);
    // A region that awaits its sub-space is not free for all.
    assert_eq!(bus.free(0), Err(FreeError::Carved { region: pages(0, 8) }));
    assert_eq!(bus.adopt(0, &mut window), Ok(pages(0, 8)));
    let refused = bus.take_back(window).unwrap_err();
    assert_eq!(refused.cause, ReturnError::InUse { region: pages(0, 2) });
    let mut window = refused.value;
    window.free(0).unwrap();
    assert_eq!(bus.take_back(window).unwrap(), (pages(0, 8), "bridge"));
    assert!(bus.is_empty());
}

fn the_whole_address_space_can_be_handed_on(placement: Placement) {
    let mut all = AddressSpace::new(Span::ALL, Align::ONE, placement).unwrap();
    all.alloc_at(Span::ALL, "guest").unwrap();
    let mut guest = AddressSpace::<u64>::new(Span::ALL, Align::ONE, placement).unwrap();
    assert_eq!(all.adopt(0, &mut guest), Ok(Span::ALL));
    guest.alloc_at(Span::new(u64::MAX, u64::MAX).unwrap(), 1).unwrap();
    let refused = all.take_back(guest).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "0xffffffffffffffff..=0xffffffffffffffff is still allocated in the sub-space"
    );
    let mut guest = refused.value;
    guest.free(u64::MAX).unwrap();
    assert_eq!(all.take_back(guest).unwrap(), (Span::ALL, "guest"));
}

/// Whatever becomes of parent and child, neither needs the other.
#[test]
fn either_may_be_dropped_first() {
    let mut bus = space(Placement::Lowest, 64);
    let mut window: AddressSpace<&str> = carve(&mut bus, &request(8), "bridge");
    drop(bus);
    window.alloc(&request(1), "nic").unwrap();
    window.validate().unwrap();
    window.free(0).unwrap();
    // A new parent at the same place does not know it.
    let mut bus = space(Placement::Lowest, 64);
    let lost: AddressSpace<&str> = carve(&mut bus, &request(8), "bridge");
    assert!(bus.take_back(window).is_err());
    drop(lost);
    assert_eq!(bus.free(0), Err(FreeError::Carved { region: pages(0, 8) }));
    bus.validate().unwrap();
}

/// A space and those carved from it.
struct Node {
    space: AddressSpace<u64>,
    below: Vec<Node>,
}

impl Node {
    fn new(space: AddressSpace<u64>) -> Self {
        Self { space, below: Vec::new() }
    }

    /// Follows `path` as far as it leads.
    fn at(&mut self, path: &[usize]) -> &mut Self {
        match path {
            [step, rest @ ..] if !self.below.is_empty() => {
                let below = self.below.len();
                self.below[step % below].at(rest)
            }
            _ => self,
        }
    }

    /// Every space is sound, and has a carved region for each space below and no other.
    fn check(&self) -> usize {
        self.space.validate().unwrap();
        let carved = self.space.regions().filter(|region| region.is_carved());
        let mut below: Vec<Span> = self.below.iter().map(|node| node.space.span()).collect();
        below.sort();
        assert!(carved.map(|region| region.span()).eq(below));
        1 + self.below.iter().map(Node::check).sum::<usize>()
    }

    /// Frees everything, from the leaves up, after one attempt to do it the other way round.
    fn cleared(mut self) -> AddressSpace<u64> {
        for node in std::mem::take(&mut self.below) {
            let lowest = node.space.regions().next().map(|region| region.span());
            let space = match (lowest, self.space.take_back(node.space)) {
                (None, Ok(_)) => continue,
                (Some(region), Err(refused)) => {
                    assert_eq!(refused.cause, ReturnError::InUse { region });
                    refused.value
                }
                (lowest, taken) => panic!("{lowest:?} is in it, but {taken:?}"),
            };
            let space = Self { space, below: node.below }.cleared();
            self.space.take_back(space).unwrap();
        }
        let left: Vec<u64> = self.space.regions().map(|region| region.span().first()).collect();
        left.into_iter().for_each(|first| assert!(self.space.free(first).is_ok()));
        self.space
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    /// What leaf spaces hand out never meets, and a tree can be taken down to an empty root.
    #[test]
    fn trees_of_spaces_hand_out_no_address_twice(
        ops in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<usize>(), 0..4), 1u64..9), 1..80),
    ) {
        let root = AddressSpace::new(pages(0, 256), Align::PAGE, Default::default()).unwrap();
        let mut root = Node::new(root);
        let mut spaces = 1;
        for (at, (kind, path, size)) in (0..).zip(ops) {
            let node = root.at(&path);
            match kind % 8 {
                0..3 => drop(node.space.alloc(&request(size), at)),
                3..6 => {
                    if let Ok(space) = node.space.carve(&request(size * 8), at, Default::default()) {
                        node.below.push(Node::new(space));
                        spaces += 1;
                    }
                }
                6 => {
                    let lowest = node.space.regions().next();
                    let lowest = lowest.map(|region| (region.span().first(), region.is_carved()));
                    if let Some((first, is_carved)) = lowest {
                        prop_assert_eq!(node.space.free(first).is_err(), is_carved);
                    }
                }
                _ => {
                    let Some(last) = node.below.pop() else { continue };
                    let (is_empty, below) = (last.space.is_empty(), last.below);
                    match node.space.take_back(last.space) {
                        Ok(_) => spaces -= 1,
                        Err(refused) => node.below.push(Node { space: refused.value, below }),
                    }
                    prop_assert!(is_empty || !node.below.is_empty());
                }
            }
            prop_assert_eq!(root.check(), spaces);
        }
        let root = root.cleared();
        prop_assert!(root.is_empty() && root.free_blocks().eq([pages(0, 256)]));
    }
}

each_placement!(
    { lowest: Lowest, best_fit: BestFit },
    a_carved_region_stays_as_it_is,
    a_sub_space_gets_no_other_addresses,
    strangers_are_sent_back,
    what_lives_in_it_is_named,
    what_was_given_up_does_not_come_back,
    only_what_fits_is_adopted,
    copies_and_restored_trees_adopt_theirs,
    the_whole_address_space_can_be_handed_on,
);

/// What is forgotten leaves its space valid; the rest of the space is used as before.
#[test]
fn forgotten_sub_spaces_moves_and_iterators() {
    let mut parent = space(Placement::Lowest, 64);
    let child: AddressSpace<&str> = carve(&mut parent, &request(16), "bridge");
    let first = child.span().first();
    std::mem::forget(child);
    parent.validate().unwrap();
    assert_eq!(parent.free(first), Err(FreeError::Carved { region: pages(0, 16) }));
    assert!(parent.disown(first));
    let moving = parent.alloc(&request(4), "nic").unwrap();
    _ = parent.begin_move(moving.first(), 40 * PAGE).unwrap();
    parent.validate().unwrap();
    assert_eq!(parent.free(first), Ok((pages(0, 16), "bridge")));
    let lost = parent.pending_moves().next().unwrap();
    assert_eq!(parent.commit_move(lost), Ok(pages(40, 4)));
    parent.validate().unwrap();
    let mut rest = parent.into_iter();
    assert_eq!(rest.next(), Some((pages(40, 4), "nic")));
    std::mem::forget(rest);
}
