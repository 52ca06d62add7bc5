// class: resources
fn main() {
    loop {
        println!("a line that is written again and again and again and again");
    }
}
