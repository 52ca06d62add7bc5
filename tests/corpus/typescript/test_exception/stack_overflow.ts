// class: resources
const deep = (n: number): number => deep(n + 1) + n;
console.log(deep(1));
