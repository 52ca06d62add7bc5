// kinds: program
fn twice(x: i64) -> i64 {
    x + x
}
