// class: resources
// seconds: 0.5
fn main() {
    std::thread::sleep(std::time::Duration::from_secs(100));
}
