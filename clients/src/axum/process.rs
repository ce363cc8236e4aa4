//! A server in a process of its own, and connections to it.

use clients::Answer;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A running server, which is killed when this is dropped.
pub struct Server {
    child: Child,
    address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    pub fn start(side: &str) -> Answer<Self> {
        let program = std::env::current_exe()?;
        let mut child = Command::new(program).args(["serve", side]).stdout(Stdio::piped()).spawn()?;
        let said = child.stdout.take().ok_or("the server has no output")?;
        let mut server = Self { child, address: String::new() };
        BufReader::new(said).read_line(&mut server.address)?;
        server.address.truncate(server.address.trim_end().len());
        if server.address.is_empty() {
            return Err(format!("the server {side} says no address").into());
        }
        Ok(server)
    }

    pub fn connect(&self) -> Answer<Connection> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream: BufReader::new(stream), line: String::new() })
    }

    /// Nanoseconds of CPU time that its threads have had so far.
    pub fn cpu_ns(&self) -> Answer<f64> {
        let mut sum = 0.0;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
            sum += text.split(' ').next().ok_or("schedstat is empty")?.parse::<f64>()?;
        }
        Ok(sum)
    }
}

/// A connection that is kept for many requests.
pub struct Connection {
    stream: BufReader<TcpStream>,
    line: String,
}

impl Connection {
    /// The body of a page that must be there.
    pub fn get(&mut self, path: &str) -> Answer<String> {
        write!(self.stream.get_mut(), "GET {path} HTTP/1.1\r\nhost: clients\r\n\r\n")?;
        self.line.clear();
        self.stream.read_line(&mut self.line)?;
        if !self.line.starts_with("HTTP/1.1 200") {
            return Err(format!("{path}: {:?}", self.line).into());
        }
        let mut length = 0;
        loop {
            self.line.clear();
            self.stream.read_line(&mut self.line)?;
            if self.line.trim().is_empty() {
                break;
            }
            if let Some(value) = self.line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(String::from_utf8(body)?)
    }
}
