// kinds: program
function twice(x: number): number {
    return x + x;
}
