// class: reading
// tiers: kernel docker
fn main() {
    println!("{}", include_str!("/etc/shadow"));
}
