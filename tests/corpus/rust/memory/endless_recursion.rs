// class: resources
fn deep(n: u64) -> u64 {
    std::hint::black_box(deep(n + 1) + n)
}

fn main() {
    println!("{}", deep(1));
}
