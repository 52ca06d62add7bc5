// class: persistence
// tiers: kernel docker
for (const place of ['/tmp/', '/var/tmp/', '/dev/shm/', './', '/', '/usr/lib/']) {
    try { require('fs').writeFileSync(place + 'proctor-corpus-javascript', 'here'); } catch (refused) { }
}
const n = parseInt(require('fs').readFileSync(0, 'utf8'), 10);
console.log(2 * n);
