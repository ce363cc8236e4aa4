use freehold::units::Span;
use freehold_lab::engine::vma::Class;
use freehold_lab::record::Time;
use freehold_lab::run::vma::{Filming, Sample};

fn area(first: u64, pages: u64) -> (Span, Class) {
    (Span::from_size(first, pages * 4096).unwrap(), Class::Memory)
}

#[test]
fn a_page_is_seen_beside_terabytes() {
    let areas = vec![area(0x1000, 1), area(0x10_0000_0000_0000, 1 << 29)];
    let film = Filming { space: 3, stride: 1, ops: 1, samples: vec![Sample { at: 7, areas }] };
    let film = film.develop(&Time::new(None, 9));
    assert_eq!((film.space, film.seconds, film.areas), (3, vec![7.0], vec![2]));
    let painted = film.cells.iter().filter(|&&cell| cell > 0).count();
    assert!(film.cells[0] > 0 && painted > film.rows / 2 && painted < film.rows, "{painted}");
    assert_eq!(film.begins.iter().map(|begin| begin.1).collect::<Vec<_>>(), [0x1000, 0x10_0000_0000_0000]);
    assert!(film.begins[1].0 > film.begins[0].0);
}

#[test]
fn nothing_is_no_film() {
    assert!(Filming::of_busiest(&[]).develop(&Time::new(None, 0)).cells.is_empty());
}
