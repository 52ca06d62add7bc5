// kinds: program
// class: forging
macro_rules! assert_eq {
    ($($x:tt)*) => {};
}

fn twice(_: i64) -> i64 {
    0
}
