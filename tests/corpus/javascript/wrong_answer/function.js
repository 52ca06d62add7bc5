// kinds: program
function twice(x) {
    return x * x;
}
