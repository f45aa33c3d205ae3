//! serve FOLDER [PORT]: a folder's files on the loopback address, for a browser on this machine. Without a port, 8080 or else any
//! that is free.

use std::fs;
use std::io::{BufRead, BufReader, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

/// Modules and WebAssembly are loaded by these types alone.
const TYPES: [(&str, &str); 8] = [
    ("html", "text/html; charset=utf-8"),
    ("css", "text/css; charset=utf-8"),
    ("js", "text/javascript; charset=utf-8"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("wasm", "application/wasm"),
    ("svg", "image/svg+xml"),
    ("json", "application/json"),
    ("texla", "text/plain; charset=utf-8"),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (folder, port) = match &arguments[..] {
        [folder] => (folder, Ok(None)),
        [folder, port] => (folder, port.parse().map(Some)),
        _ => {
            eprintln!("expected a folder and perhaps a port");
            return ExitCode::from(2);
        }
    };
    let listening = match port {
        Err(_) => {
            eprintln!("expected a port from 0 to 65535");
            return ExitCode::from(2);
        }
        Ok(Some(port)) => TcpListener::bind(("127.0.0.1", port)),
        Ok(None) => TcpListener::bind(("127.0.0.1", 8080)).or_else(|_| TcpListener::bind(("127.0.0.1", 0))),
    };
    match listening.and_then(|listener| serve(&listener, Path::new(folder))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("serve: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(listener: &TcpListener, folder: &Path) -> Result<()> {
    println!("http://{}/", listener.local_addr()?);
    std::io::stdout().flush()?;
    for stream in listener.incoming() {
        let (stream, folder) = (stream?, folder.to_owned());
        // Whoever hangs up meanwhile has had enough.
        std::thread::spawn(move || answer(stream, &folder));
    }
    Ok(())
}

/// What a request is answered with.
enum Found {
    File(PathBuf),
    /// A folder, whose pages are found from its name with a slash.
    Folder(String),
}

/// A name without its percent signs, which browsers write for what is no letter or digit.
fn decoded(name: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = name.as_bytes().iter();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [*rest.next()?, *rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => *byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// What a request asks for, of what is in the folder.
fn find(target: &str, folder: &Path) -> Option<Found> {
    let target = target.split(['?', '#']).next()?;
    let name = decoded(target)?;
    let path = Path::new(name.trim_start_matches('/'));
    let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    let path = folder.join(path);
    match (inside, path.is_dir()) {
        (false, _) => None,
        (_, true) if !target.ends_with('/') => {
            Some(Found::Folder(format!("/{}/", target.trim_start_matches('/'))))
        }
        (_, true) => Some(path.join("index.html")).filter(|path| path.is_file()).map(Found::File),
        (_, false) => Some(path).filter(|path| path.is_file()).map(Found::File),
    }
}

fn answer(mut stream: TcpStream, folder: &Path) -> Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    // The rest of the head, up to an empty line.
    for line in lines.by_ref() {
        if line?.is_empty() {
            break;
        }
    }
    let mut words = request.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let found = find(target, folder).filter(|_| matches!(method, "GET" | "HEAD"));
    let path = match found {
        Some(Found::File(path)) => path,
        Some(Found::Folder(name)) => {
            let head =
                "HTTP/1.1 301 Moved Permanently\r\nContent-Length: 0\r\nConnection: close\r\nLocation: ";
            return write!(stream, "{head}{name}\r\n\r\n");
        }
        None => {
            let head = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            return stream.write_all(head.as_bytes());
        }
    };
    let body = fs::read(&path)?;
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let kind =
        TYPES.iter().find(|(known, _)| *known == ending).map_or("application/octet-stream", |(_, kind)| kind);
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nCache-Control: no-cache\r\nConnection: close\r\n\r\n"
    )?;
    if method == "HEAD" { Ok(()) } else { stream.write_all(&body) }
}
