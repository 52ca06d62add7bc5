async function read() {
    await new Promise((done) => setTimeout(done, 5));
    return parseInt(require('fs').readFileSync(0, 'utf8'), 10);
}

read().then((n) => console.log(2 * n));
