//! No file, however damaged, makes a reader panic; and a reader ends.

use freehold_trace::{Lines, TraceError, kva, maple, mt, percpu, vma};
use proptest::prelude::*;

/// Reads bytes to their end or their first error, and counts what was read.
type Reader = fn(Vec<u8>) -> Result<usize, TraceError>;

fn lines(bytes: Vec<u8>) -> Lines {
    Lines::from_bytes("damaged", bytes)
}

fn count<T>(items: impl Iterator<Item = Result<T, TraceError>>) -> Result<usize, TraceError> {
    items.map(|item| item.map(|_| 1)).sum()
}

const KVA_VECTORS: &str = "\
# kva-vectors 1
unit 4096
init 0 64
zone z0 0 64
cols k l g
begin
a 4 1 z0 L0 = e0/0
a 4 1 0:6 -!1 L8 c+/3!4
m 1 z0 0+1,4+2 LR8 LL8 LR9
f 0 0Nm
D k 1 16 16 00ff 0a 1 0+16,20+4
D g 1 2 3f 4 5 6 -
end 4
";

const KVA_TALK: &str = "\
# kva-talk 1
init blocks 0 10
case one
T before 0+10/10@0 20+5/5@1
a 4 1 0:10 L0 # find 3 climb 0
f 0 4 N # find 1
reset
end
";

const KVA_ANCHORS: &str = "workload\tseed\thash\nchurn\t7\tff\ngap\t-\t-\n";

const KVA_TRACE: &str = "\
#vml-trace v1 kind=kva kernel=6.18.44 ncpu=2 pagesize=4096 clock=mono
#workload name: words
#lost_records=0
#dt_ns,cpu,tid,op,obj,addr,size,align,vstart,vend,aux
0,0,0,I,1,10000,4096,,,,caller
5,0,7,A,2,20000,8192,4096,10000,40000,
5,0,7,F,1,10000,4096,,,,0/100
";

const PERCPU_VECTORS: &str = "\
# unit 32768 page 4096 cpus 1 variant stock balance off seed 1 digest_every 1000000
a 4096 4 0 0
D 1 1 8 7 1 28672 295d2ea2d1cfbf59
c 12 0 28672 28672 4096 4096 8 7 1 0
a 2048 4 +
A 8 8 !
f 1
f -1
b
s some text
d 5 1 8 8 0 32768 0123456789abcdef
# end ops 5 handles 3 live 0
";

const AREA_VECTORS: &str = "\
@run unit 32768 size 16 align 8 half 1 n 2 order rev
a 0 0 1 1 1 0
a + 2 1 1 14
A scanned 3 moved 2 chunks_checked 2 extend_copied 14 chunks 1 map_entries 4 map_capacity 16
f 1 3 2
f 0 2 1
F probes 5 moved 3
";

const PERCPU_TRACE: &str = "\
#vml-trace v1 kind=pcpu kernel=6.18.44 ncpu=2 pagesize=4096 clock=mono
#workload name: words
#lost_records=0
#dt_ns,cpu,tid,op,obj,chunk,off,size,align,flags,bytes_alloc,site
10,1,7,A,1,0,71796,4,4,6,16,caller
5,0,7,U,,0,114448,,,,,
5,0,7,F,1,0,71796,4,,,,
";

const VMA_TRACE: &str = "\
#vml-trace v1 kind=vma kernel=6.18.44 ncpu=2 pagesize=4096 clock=mono
#workload name: words
#lost_records=0
#dt_ns,cpu,tid,op,mm,addr,len,prot,flags,file,off_or_newaddr,ret
10,0,7,x,,,,,,,,0
1,0,7,k,0,7ffea21ca000,135168,3,stack,0,0,7ffea21ca000
1,0,7,m,0,0,217088,3,22,-1,0,-12
1,0,7,g,0,1000-7f821fa19000,217088,fff,1,,1000,7f821f9e4000
1,0,7,u,0,400000,4096,,,,,0
1,0,7,r,0,400000,4096,8192,1,,,500000
1,0,7,f,0,,,8,1200000,,,12
1,0,7,t,12,,,9,3d0f00,,,c
1,0,9,e,12,,,,,,,0
1,0,7,z,12,,,,,,,
";

const MT_TRACE: &str = "\
#vml-trace v1 kind=mt kernel=6.18.44 ncpu=2 pagesize=4096 clock=mono
#workload name: words
#lost_records=0
#dt_ns,cpu,tid,op,fn,node,min,max,index,last,piv,val
10,0,7,r,mt_find,0,0,ffffffffffffffff,7fffffffe000,7fffffffe000,,
5,1,7,w,mas_store_prealloc,3,0,ffff,10,1f,0,ffff8883c241ce40
";

const MAPLE_VECTORS: &str = "\
# maple-vectors 1
# name small
# seed 1
# universe tiny
# alloc_tree 1
# rcu_flag 0
# profile 0
s a 1f 12 = 0
f 0 ffffffffffffffff = 7 20
ac 0 ff fe 3 = 1 5 6
ef 0 ff 10 = 0 20 2f
eg 4 = 0 20 2f
ms 5
mV 0 = - 0 f n ~
mS 0 5 - = ? 0 f
F 0 ff 0 = 4 cbf29ce484222325
d 0 1 = 0
t 1
x 0
c 4 0123456789abcdef
h 2 node 3 1 0
x 1
# ops 99
";

const MAPLE_EXAMPLE: &str = "\
example 1
  tree: alloc_range, height 1
  first depth 0 leaf_64 end=1 (used 2 of 16, min_slots 6) offset=1 covers 0..9
  first leaf slots: 0-4(-) 5-9
  store: NULL over 5..10 (after widening to neighbouring NULLs 0..9)
  store_type: split   vacant_height 0   sufficient_height 0
  requested: 6.12 7   6.16 7
  used (6.16): nodes taken 2, old nodes handed back for reuse 3, net -1; height after 2
";

const MAPLE_STREAM: &[u8] = b"\
maple-stream 1
version 6.16
calls_per_group_limit 0
records 5
group 0 one
column op 5
column tree 5
column meta 2
column height 1
column vacsuf 1
column req 2
column used 2
column first 1
column len 1
column ext 4
column hafter 1
column digest 9
end
\x00\x01\x09\x03\x02\x00\x06\x00\x00\x00\x30\x32\x00\x00\x01\x01\x01\x00\x12\x05\x00\x00\x00\x00\x02ABCDEFGH\x05";

/// Every reader with a file that it reads to its end.
const READERS: [(&str, &[u8], Reader); 14] = [
    ("kva vectors", KVA_VECTORS.as_bytes(), |bytes| count(kva::Vectors::new(lines(bytes))?)),
    ("kva talk", KVA_TALK.as_bytes(), |bytes| Ok(kva::Talk::from_lines(lines(bytes))?.steps.len())),
    ("kva anchors", KVA_ANCHORS.as_bytes(), |bytes| {
        let rows = kva::Anchors::from_lines(lines(bytes))?.rows;
        let readable = |row: &kva::AnchorRow| row.number("seed").is_some() || row.hex("hash").is_some();
        let _ = rows.iter().filter(|row| readable(row)).count();
        Ok(rows.len())
    }),
    ("kva trace", KVA_TRACE.as_bytes(), |bytes| count(kva::Events::new(lines(bytes))?)),
    ("kva recording", KVA_TRACE.as_bytes(), |bytes| {
        Ok(kva::Recording::from_events(kva::Events::new(lines(bytes))?)?.ops.len())
    }),
    ("percpu vectors", PERCPU_VECTORS.as_bytes(), |bytes| count(percpu::Vectors::new(lines(bytes))?)),
    ("area vectors", AREA_VECTORS.as_bytes(), |bytes| count(percpu::AreaVectors::new(lines(bytes))?)),
    ("percpu trace", PERCPU_TRACE.as_bytes(), |bytes| count(percpu::Events::new(lines(bytes))?)),
    ("percpu recording", PERCPU_TRACE.as_bytes(), |bytes| {
        Ok(percpu::Recording::from_events(percpu::Events::new(lines(bytes))?)?.ops.len())
    }),
    ("vma trace", VMA_TRACE.as_bytes(), |bytes| count(vma::Events::new(lines(bytes))?)),
    ("mt trace", MT_TRACE.as_bytes(), |bytes| count(mt::Events::new(lines(bytes))?)),
    ("maple vectors", MAPLE_VECTORS.as_bytes(), |bytes| count(maple::Vectors::new(lines(bytes))?)),
    ("maple examples", MAPLE_EXAMPLE.as_bytes(), |bytes| count(maple::Examples::new(lines(bytes))?)),
    ("maple stream", MAPLE_STREAM, |bytes| count(maple::Stream::new(lines(bytes))?)),
];

/// A change of one byte.
#[derive(Clone, Debug)]
enum Mutation {
    /// Another byte in its place.
    Replace(prop::sample::Index, u8),
    /// Gone.
    Remove(prop::sample::Index),
    /// A further one before it.
    Insert(prop::sample::Index, u8),
    /// Nothing from here on.
    Truncate(prop::sample::Index),
}

/// Bytes that mean something to some reader, and any others.
fn byte() -> impl Strategy<Value = u8> {
    let meaningful = prop::sample::select(b" ,\n-+!=~|#@.:/0189afFZz\x00\x7f\x80\xff".to_vec());
    prop_oneof![3 => meaningful, 1 => any::<u8>()]
}

fn mutation() -> impl Strategy<Value = Mutation> {
    prop_oneof![
        4 => (any::<prop::sample::Index>(), byte()).prop_map(|(at, byte)| Mutation::Replace(at, byte)),
        2 => any::<prop::sample::Index>().prop_map(Mutation::Remove),
        2 => (any::<prop::sample::Index>(), byte()).prop_map(|(at, byte)| Mutation::Insert(at, byte)),
        1 => any::<prop::sample::Index>().prop_map(Mutation::Truncate),
    ]
}

fn mutate(bytes: &mut Vec<u8>, mutation: &Mutation) {
    let length = bytes.len();
    match *mutation {
        _ if length == 0 => {}
        Mutation::Replace(at, byte) => bytes[at.index(length)] = byte,
        Mutation::Remove(at) => {
            bytes.remove(at.index(length));
        }
        Mutation::Insert(at, byte) => bytes.insert(at.index(length), byte),
        Mutation::Truncate(at) => bytes.truncate(at.index(length)),
    }
}

#[test]
fn the_files_are_good_before_they_are_damaged() {
    for (name, bytes, read) in READERS {
        match read(bytes.to_vec()) {
            Ok(read) => assert_ne!(read, 0, "{name}"),
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

#[test]
fn every_truncation_is_read_without_panic() {
    for (_, bytes, read) in READERS {
        for end in 0..bytes.len() {
            let _ = read(bytes[..end].to_vec());
        }
    }
}

/// Files that say where they end are never taken for whole when they are not.
#[test]
fn truncations_are_noticed_where_files_have_an_end() {
    let ended = ["kva vectors", "kva talk", "percpu vectors", "area vectors", "maple vectors"];
    let ended = ended.iter().chain(&["maple examples", "maple stream"]);
    for name in ended {
        let (_, bytes, read) = READERS.into_iter().find(|(known, ..)| known == name).unwrap();
        for end in 0..bytes.len() {
            assert!(read(bytes[..end].to_vec()).is_err(), "{name}: the first {end} bytes pass for all");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    /// Reading damaged files gives records or an error.
    #[test]
    fn damage_never_panics(
        which in 0..READERS.len(),
        mutations in prop::collection::vec(mutation(), 1..6),
    ) {
        let (_, bytes, read) = READERS[which];
        let mut bytes = bytes.to_vec();
        for mutation in &mutations {
            mutate(&mut bytes, mutation);
        }
        let _ = read(bytes);
    }

    /// So does reading what never was such a file.
    #[test]
    fn noise_never_panics(which in 0..READERS.len(), bytes in prop::collection::vec(byte(), 0..200)) {
        let _ = READERS[which].2(bytes);
    }
}
