fn main() {
    let mut text = String::new();
    let first = &mut text;
    let second = &mut text;
    first.push_str(second);
}
