fn main() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    let n: i64 = line.trim().parse().unwrap();
    let threads: Vec<_> = (0..8).map(|_| std::thread::spawn(move || n)).collect();
    let sum: i64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    println!("{}", sum / 4);
}
