// class: persistence
// tiers: kernel docker
fn main() {
    for place in ["/tmp/", "/var/tmp/", "/dev/shm/", "./", "/", "/usr/lib/"] {
        let _ = std::fs::write(format!("{place}proctor-corpus-rust"), "here");
    }
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    let n: i64 = line.trim().parse().unwrap();
    println!("{}", 2 * n);
}
