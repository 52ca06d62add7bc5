// class: resources
macro_rules! bomb {
    ($($x:tt)*) => { bomb!($($x)* $($x)* x) };
}

fn main() {
    bomb!(x);
}
