fn main() {
    let none: Option<i32> = None;
    println!("{}", none.unwrap());
}
