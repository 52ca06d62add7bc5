declare var require: any, process: any;
process.exit(3);
