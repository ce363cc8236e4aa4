"""The engines as classes."""

import gc
import subprocess
import sys
import threading
import weakref

import pytest

import freehold


def test_address_space():
    space = freehold.AddressSpace(0xC000_0000, 0xFFFF_FFFF)
    nic = space.alloc(0x4000, "nic", align=0x4000, guard=0x1000)
    disk = space.alloc_at(0xD000_0000, 0x1000, {"disk": 1})
    assert nic == 0xC000_0000 and disk == 0xD000_0000
    assert space.region_at(nic + 0x123) == (nic, nic + 0x3FFF, "nic")
    assert nic + 0x4000 not in space and disk in space and len(space) == 2
    with pytest.raises(freehold.NoSpace) as raised:
        space.alloc_at(nic + 0x1000, 0x1000)
    assert raised.value.conflict == (nic, nic + 0x3FFF)
    with pytest.raises(freehold.NotAllocated) as interior:
        space.free(nic + 8)
    assert interior.value.conflict == (nic, nic + 0x3FFF)
    with pytest.raises(freehold.NoSpace) as full:
        space.alloc(0x4000_0000)
    assert full.value.conflict is None
    assert full.value.largest_free_bytes > 0
    space.resize(disk, 0x3000)
    assert [region[:2] for region in space.regions()] == [(nic, nic + 0x3FFF), (disk, disk + 0x2FFF)]
    assert space.free(disk) == {"disk": 1}
    assert space.free_blocks() == [(nic + 0x5000, 0xFFFF_FFFF)]
    assert space.alloc(0x1000, first=0xE000_0000, last=0xEFFF_FFFF) == 0xE000_0000
    space.validate()
    high = freehold.AddressSpace(0, 2**64 - 1, placement="highest")
    assert high.alloc(0x1000) == 2**64 - 0x1000


@pytest.mark.parametrize("bad", [{"align": 3}, {"first": 8, "last": 7}, {"guard": 1}])
def test_requests_that_no_space_fulfils(bad):
    space = freehold.AddressSpace(0, 0xFFFF)
    with pytest.raises(freehold.RequestError):
        space.alloc(0x1000, **bad)
    with pytest.raises(freehold.RequestError):
        space.alloc(0)
    with pytest.raises(OverflowError):
        space.alloc(-1)
    with pytest.raises(freehold.RequestError):
        freehold.AddressSpace(5, 4)
    with pytest.raises(freehold.RequestError):
        freehold.AddressSpace(0, 0xFFFF, granule=3)
    with pytest.raises(freehold.RequestError):
        freehold.AddressSpace(0, 0xFFFF, placement="middle")


def test_range_map():
    ranges = freehold.RangeMap()
    ranges.insert(10, 19, "a")
    ranges.store(15, 24, "b")
    assert list(ranges) == ranges.items() == [(10, 14, "a"), (15, 24, "b")]
    assert ranges.get(14) == "a" and ranges.get(25, "none") == "none" and 24 in ranges
    assert ranges.entry_at(20) == (15, 24, "b")
    with pytest.raises(freehold.NoSpace) as raised:
        ranges.insert(0, 12, "c")
    assert raised.value.conflict == (10, 14)
    assert ranges.gaps(0, 30) == [(0, 9), (25, 30)]
    assert ranges.lowest_gap(8, align=8) == (0, 7)
    assert ranges.highest_gap(1) == (2**64 - 1, 2**64 - 1)
    with pytest.raises(freehold.NoSpace):
        ranges.lowest_gap(11, last=20)
    assert ranges.erase(12) == (10, 14, "a") and ranges.erase(12) is None
    ranges.validate()
    ranges.clear()
    assert len(ranges) == 0
    with pytest.raises(freehold.RequestError):
        ranges.store(5, 4, "d")


def test_chunk_set():
    chunks = freehold.ChunkSet(unit_bytes=65536, cpus=4)
    small, large = chunks.alloc(8, 8), chunks.alloc(100)
    assert len(chunks) == 2 and chunks.taken_bytes(large) == 100
    assert sorted(chunks.objects()) == sorted([(small, 8), (large, 100)])
    assert chunks.populated_pages >= 1
    assert chunks.free(small) == 8
    with pytest.raises(freehold.NotAllocated):
        chunks.free(small)
    with pytest.raises(freehold.NotAllocated) as raised:
        chunks.free((*large[:2], large[2] + 4))
    assert raised.value.conflict == large
    with pytest.raises(freehold.RequestError):
        chunks.alloc(0)
    with pytest.raises(freehold.RequestError):
        freehold.ChunkSet(unit_bytes=1000)
    chunks.balance()
    chunks.validate()


def test_a_value_lives_as_long_as_its_region():
    class Device:
        pass

    import weakref

    device = Device()
    gone = weakref.ref(device)
    space = freehold.AddressSpace(0, 0xFFFF)
    first = space.alloc(0x1000, device)
    del device
    assert gone() is not None
    space.free(first)
    assert gone() is None


def test_a_value_that_is_dropped_finds_its_map_in_use():
    ranges, said = freehold.RangeMap(), []

    class Value:
        def __del__(self):
            try:
                ranges.clear()
            except RuntimeError as error:
                said.append(str(error))

    ranges.store(0, 9, Value())
    ranges.store(5, 14, None)
    ranges.store(0, 4, None)
    assert len(said) == 1 and ranges.items() == [(0, 4, None), (5, 14, None)]
    ranges.validate()


def test_threads_take_turns():
    space = freehold.AddressSpace(0, 2**40 - 1)
    failed = []

    def fill():
        try:
            for _ in range(2000):
                space.alloc(0x1000)
        except RuntimeError as error:
            failed.append(error)

    threads = [threading.Thread(target=fill) for _ in range(2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failed and len(space) == 4000
    space.validate()


def test_values_that_lead_back_are_collected():
    class Device:
        pass

    left = []
    for attribute in ("space", "map"):
        device = Device()
        if attribute == "space":
            device.space = freehold.AddressSpace(0, 0xFFFF)
            device.space.alloc(0x1000, device)
        else:
            device.map = freehold.RangeMap()
            device.map.store(0, 9, device)
            device.map.store(3, 5, None)  # both parts that are left hold it
        left.append(weakref.ref(device))
        del device
    gc.collect()
    assert [device() for device in left] == [None, None]


@pytest.mark.parametrize("made", ["freehold.RangeMap()", "freehold.AddressSpace(0, 0xFFFF)"])
def test_deep_nests_are_freed(made):
    code = f"""
import freehold
outer = None
for _ in range(100_000):
    inner, outer = outer, {made}
    outer.store(0, 0, inner) if hasattr(outer, "store") else outer.alloc(0x1000, inner)
del inner, outer
print("freed")
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (0, "freed\n"), ran.stderr


def test_other_interpreters_are_refused():
    code = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
try:
    told = interpreters.run_string(interpreters.create(), "import freehold")
except Exception as error:
    told = error
print(told)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert "does not support loading in subinterpreters" in ran.stdout
