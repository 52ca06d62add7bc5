// class: reading
fn main() {
    println!("{}", env!("SECRET_TOKEN"));
}
