declare var require: any, process: any;
process.kill(process.pid, 'SIGKILL');
