// kinds: program
function twice(x) {
    throw new Error('cannot');
}
