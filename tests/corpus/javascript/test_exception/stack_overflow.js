// class: resources
const deep = (n) => deep(n + 1) + n;
console.log(deep(1));
