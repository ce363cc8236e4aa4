//! A server whose handlers get a fresh zeroed slot for each request, and give it back: no request sees what another left, and
//! what runs past the end of a slot faults.
//!
//! `cargo run -p freehold-vmalloc --release --example requests`

use freehold_vmalloc::{RetainPolicy, SlotLayout, Slots, VirtualMemory};
use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Threads that serve, and that ask.
const THREADS: usize = 4;
const REQUESTS: usize = 2000;
const SLOT_BYTES: usize = 1 << 20;

/// Counts the bytes of a request by value, in memory that must be zero before: a line with a length, then as many bytes.
fn serve(slots: &Slots<'_>, stream: &TcpStream, served: &AtomicU64) -> Result<(), Box<dyn Error>> {
    let mut reader = BufReader::new(stream);
    let (mut line, mut writer) = (String::new(), stream);
    while reader.read_line(&mut line)? > 0 {
        let length: usize = line.trim().parse()?;
        let mut slot = slots.get()?;
        let (body, counts) = slot.split_at_mut(SLOT_BYTES / 2);
        let body = body.get_mut(..length).ok_or("too long")?;
        reader.read_exact(body)?;
        for &byte in &*body {
            counts[usize::from(byte)] = counts[usize::from(byte)].saturating_add(1);
        }
        writer.write_all(&counts[..256])?;
        served.fetch_add(1, Ordering::Relaxed);
        line.clear();
    }
    Ok(())
}

/// Asks, and checks that nobody else's bytes were counted.
fn ask(address: std::net::SocketAddr, client: usize) -> Result<(), Box<dyn Error>> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    for request in 0..REQUESTS {
        let byte = ((client * 61 + request) % 256) as u8;
        let length = 1 + request % 200;
        let mut message = format!("{length}\n").into_bytes();
        message.resize(message.len() + length, byte);
        stream.write_all(&message)?;
        let mut counts = [0; 256];
        stream.read_exact(&mut counts)?;
        let right =
            (0..256).all(|at| usize::from(counts[at]) == if at == usize::from(byte) { length } else { 0 });
        assert!(right, "another request's bytes were in the slot");
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let keep = RetainPolicy::bytes(256 << 20).decay(Duration::from_secs(1));
    let vm = VirtualMemory::builder().reserve(1 << 36).retain(keep).build()?;
    let slots =
        vm.slots(&SlotLayout::new(SLOT_BYTES).count(1024).keep_resident(64 << 10).name("requests"))?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let served = AtomicU64::new(0);
    let text = |error: Box<dyn Error>| error.to_string();
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for client in 0..THREADS {
            threads.push(scope.spawn(move || ask(address, client).map_err(text)));
        }
        for _ in 0..THREADS {
            let (stream, _) = listener.accept()?;
            let (slots, served) = (&slots, &served);
            threads.push(scope.spawn(move || serve(slots, &stream, served).map_err(text)));
        }
        for thread in threads {
            thread.join().map_err(|_| "a thread panicked")??;
        }
        Ok::<(), Box<dyn Error>>(())
    })?;
    let stats = vm.stats();
    assert_eq!(served.into_inner(), (THREADS * REQUESTS) as u64);
    println!("{} requests, each with a zeroed MiB", THREADS * REQUESTS);
    println!("{} page scans, {} bytes cleared", stats.scrub.scans, stats.scrub.cleared_bytes);
    println!("{} bytes count as resident, at most 64 KiB of each free slot", stats.residency.resident_bytes);
    Ok(())
}
