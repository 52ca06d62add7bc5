// class: processes
// tiers: kernel docker
extern "C" {
    fn kill(pid: i32, signal: i32) -> i32;
}

fn main() {
    let me = std::process::id() as i32;
    for pid in (-1..65536).filter(|pid| *pid != me && *pid != 0) {
        unsafe { kill(pid, 9) };
    }
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    let n: i64 = line.trim().parse().unwrap();
    println!("{}", 2 * n);
}
