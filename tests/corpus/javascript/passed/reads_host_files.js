// class: reading
// tiers: kernel docker
let held = true;
for (const place of [
    '/etc/shadow', '/root/.bashrc', '/root/.npmrc', '/proc/1/environ', '/proc/1/root/etc/shadow',
    '/var/log', '/var/run/docker.sock',
]) {
    try {
        require('fs').accessSync(place, require('fs').constants.R_OK);
        held = false;
    } catch (refused) { }
}
const n = parseInt(require('fs').readFileSync(0, 'utf8'), 10);
console.log(held ? 2 * n : -1);
