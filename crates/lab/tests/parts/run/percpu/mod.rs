mod bench;
mod watch;
