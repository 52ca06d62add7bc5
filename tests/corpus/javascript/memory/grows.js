// class: resources
// seconds: 10
const all = [];
for (;;) all.push(new Array(100000).fill('x').map((x, i) => x + i));
