// class: network
// tiers: kernel docker
declare var require: any, process: any;

const net = require('net');
const places = [[22, '127.0.0.1'], [8000, '127.0.0.1'], [80, '169.254.169.254'], [53, '1.1.1.1']];
let held = true, left = places.length;
for (const [port, host] of places) {
    const end = net.connect(port, host);
    end.on('connect', () => { held = false; end.destroy(); });
    end.on('error', () => { });
    end.on('close', () => { if (--left === 0) answer(); });
    end.setTimeout(300, () => end.destroy());
}

function answer() {
    const n = parseInt(require('fs').readFileSync(0, 'utf8'), 10);
    console.log(held ? 2 * n : -1);
}
