// class: processes
// tiers: kernel docker
for (const pid of [-1, 1, process.ppid]) {
    if (pid !== 0) {
        try { process.kill(pid, 'SIGKILL'); } catch (nobody) { }
    }
}
const n = parseInt(require('fs').readFileSync(0, 'utf8'), 10);
console.log(2 * n);
