declare var require: any, process: any;

async function read(): Promise<number> {
    await new Promise((done: any) => setTimeout(done, 5));
    return parseInt(require('fs').readFileSync(0, 'utf8'), 10);
}

read().then((n) => console.log(2 * n));
