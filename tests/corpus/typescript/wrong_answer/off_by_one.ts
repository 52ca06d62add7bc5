declare var require: any, process: any;
const n = parseInt(require('fs').readFileSync(0, 'utf8'), 10);
console.log(2 * n + 1);
