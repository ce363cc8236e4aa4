use super::*;

/// Runs a command to its end and calls `seen` at each event. `None` if children cannot be traced here.
fn trace(command: &[&str], calls: &[libc::c_long], mut seen: impl FnMut(&Tracer, Stop)) -> Option<Tracer> {
    let command: Vec<_> = command.iter().map(OsString::from).collect();
    let mut tracer = match Tracer::hold(&command, calls) {
        Ok(tracer) => tracer,
        Err(error) => {
            eprintln!("not run: a child cannot be traced here: {error}");
            return None;
        }
    };
    tracer.release();
    while let Some(stop) = tracer.next().unwrap() {
        seen(&tracer, stop);
        match stop.event {
            Event::Gone(_) => {}
            Event::Call { .. } => tracer.resume(stop.task, Until::Return),
            _ => tracer.resume(stop.task, Until::Next),
        }
    }
    Some(tracer)
}

#[test]
fn calls_have_arguments_and_results_and_others_do_not_stop() {
    let mut calls = Vec::new();
    let mut ended = Vec::new();
    let mut executed = 0;
    let Some(mut tracer) = trace(&["cat", "/dev/null"], &[libc::SYS_mmap], |_, stop| match stop.event {
        Event::Call { number, args, is_foreign } => {
            assert!(number == libc::SYS_mmap && !is_foreign);
            calls.push((args, None));
        }
        Event::Return(value) => {
            let (_, returned) = calls.last_mut().unwrap();
            assert_eq!(returned.replace(value), None);
        }
        Event::Executed { before } => {
            assert_eq!(before, stop.task);
            executed += 1;
        }
        Event::Exiting(how) => {
            assert_eq!(how, Ended::Code(0));
            let maps = std::fs::read_to_string(format!("/proc/{}/maps", stop.task)).unwrap();
            assert!(maps.contains("[stack]"));
        }
        Event::Gone(how) => ended.push((stop.task, how)),
        Event::Made(_) => unreachable!("cat makes nothing"),
    }) else {
        return;
    };
    tracer.executed().unwrap();
    assert_eq!(executed, 1);
    assert_eq!(ended, [(tracer.pid(), Ended::Code(0))]);
    // The dynamic linker maps the C library.
    assert!(calls.len() >= 3);
    for (args, returned) in calls {
        assert!(args[1] > 0 && returned.unwrap() > 0, "{args:x?}");
    }
}

#[test]
fn children_and_threads_are_followed() {
    let mut made = BTreeSet::new();
    let mut gone = BTreeSet::new();
    let mut executed = 0;
    let script = "for i in 1 2 3 4; do (cat /dev/null; exit 1) & done; wait; exit 5";
    let Some(tracer) = trace(&["sh", "-c", script], &[libc::SYS_brk], |_, stop| match stop.event {
        Event::Made(task) => assert!(made.insert(task)),
        Event::Gone(how) => assert!(gone.insert((stop.task, how))),
        Event::Executed { .. } => executed += 1,
        _ => {}
    }) else {
        return;
    };
    assert!(gone.contains(&(tracer.pid(), Ended::Code(5))));
    made.insert(tracer.pid());
    assert_eq!(made, gone.iter().map(|(task, _)| *task).collect());
    assert_eq!(executed, 5);
}

#[test]
fn signals_reach_the_child_and_a_killed_one_is_gone() {
    let mut ended = Vec::new();
    let script = "trap 'exit 7' TERM; kill -TERM $$; exit 1";
    let traced = trace(&["sh", "-c", script], &[], |_, stop| {
        if let Event::Gone(how) = stop.event {
            ended.push(how);
        }
    });
    if traced.is_none() {
        return;
    }
    trace(&["sleep", "100"], &[], |tracer, stop| match stop.event {
        Event::Executed { .. } => signal(tracer.pid(), Signal::KILL).unwrap(),
        Event::Gone(how) => ended.push(how),
        _ => {}
    });
    assert_eq!(ended, [Ended::Code(7), Ended::Signal(libc::SIGKILL)]);
}

#[test]
fn the_trial_predicts_whether_tracing_works() {
    let tried = try_it();
    let traced = trace(&["true"], &[libc::SYS_brk], |_, _| {});
    assert_eq!(tried.is_ok(), traced.is_some(), "{tried:?}");
}

#[test]
fn a_missing_program_is_an_error() {
    let Some(mut tracer) = trace(&["/no such program"], &[libc::SYS_mmap], |_, _| {}) else { return };
    assert_eq!(tracer.executed().unwrap_err().errno, libc::ENOENT);
}

#[test]
fn memory_of_a_stopped_task_is_read() {
    let mut words = Vec::new();
    // The second argument of `openat` is a path; nothing is mapped at address 0.
    let traced = trace(&["cat", "/dev/null"], &[libc::SYS_openat], |tracer, stop| {
        if let Event::Call { args, .. } = stop.event {
            words.push(tracer.read_word(stop.task, args[1]));
            assert_eq!(tracer.read_word(stop.task, 0), None);
        }
    });
    if traced.is_some() {
        let path = words.last().unwrap().unwrap().to_ne_bytes();
        assert_eq!(&path, b"/dev/nul");
    }
}
