// class: reading
// tiers: kernel docker
fn main() {
    let mut held = true;
    for place in [
        "/etc/shadow", "/root/.bashrc", "/proc/1/environ", "/proc/1/root/etc/shadow", "/var/log",
        "/root/.cargo/credentials.toml", "/root/.cargo/registry", "/var/run/docker.sock",
    ] {
        held &= std::fs::File::open(place).is_err();
    }
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    let n: i64 = line.trim().parse().unwrap();
    println!("{}", if held { 2 * n } else { -1 });
}
