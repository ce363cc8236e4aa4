//! quick
fn main() {
    for f in std::env::args().skip(1) {
        match freehold_lab::verify::verify_file(f.as_ref(), &mut || ()) {
            Ok(c) => for x in &c.checks { println!("{f} {} {} ops {} mis {} {:?} {:?}", x.what, x.engine, x.operations, x.mismatches, x.first, x.note) },
            Err(e) => println!("ERR {e}"),
        }
    }
}
