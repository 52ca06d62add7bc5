// kinds: program
fn twice(_: i64) -> i64 {
    panic!("cannot")
}
