// kinds: program
// class: forging
declare var process: any;
function twice(x: number): number {
    process.exit(0);
    return 0;
}
