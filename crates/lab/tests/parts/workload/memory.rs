//! Memory that there is not.

use freehold_lab::workload::{check_memory, check_memory_told};

#[test]
fn too_much_is_refused_and_the_unknown_is_tried() {
    let told = "MemTotal:  100 kB\nMemAvailable:   64 kB\n";
    assert!(
        check_memory_told(told, None, 64, 1 << 10).is_ok()
            && check_memory_told("", None, u64::MAX, 9).is_ok()
    );
    assert!(check_memory(1, 1).is_ok() && check_memory(u64::MAX, 1).is_err());
    let said = check_memory_told(told, None, 65, 1 << 10).unwrap_err().to_string();
    assert!(said.contains("65 KiB") && said.contains("64 KiB"), "{said}");
}
