// class: resources
// seconds: 1
const next = () => { const end = Date.now() + 50; while (Date.now() < end); setTimeout(next, 0); };
next();
