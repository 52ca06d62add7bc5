// class: resources
// seconds: 1
setTimeout(() => { }, 100000);
