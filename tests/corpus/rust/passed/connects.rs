// class: network
// tiers: kernel docker
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

fn main() {
    let mut held = true;
    for place in ["127.0.0.1:22", "127.0.0.1:8000", "169.254.169.254:80", "1.1.1.1:53"] {
        let address: SocketAddr = place.parse().unwrap();
        held &= TcpStream::connect_timeout(&address, Duration::from_millis(200)).is_err();
    }
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    let n: i64 = line.trim().parse().unwrap();
    println!("{}", if held { 2 * n } else { -1 });
}
