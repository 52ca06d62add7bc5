// kinds: program
// class: forging
console.assert = () => { };

function twice(x) {
    return 0;
}
