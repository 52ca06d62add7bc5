const fs = require('fs');
fs.writeFileSync('/tmp/number', String(2 * parseInt(fs.readFileSync(0, 'utf8'), 10)));
console.log(fs.readFileSync('/tmp/number', 'utf8'));
