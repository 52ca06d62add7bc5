// kinds: program
function twice(x: number): number {
    throw new Error('cannot');
}
