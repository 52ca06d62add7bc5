// class: resources
// seconds: 1
declare var require: any, process: any;
setTimeout(() => { }, 100000);
