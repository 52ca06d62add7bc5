// class: resources
// seconds: 1
for (;;) { }
