// class: resources
for (;;) console.log('a line that is written again and again and again and again');
