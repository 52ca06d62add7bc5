throw new Error('nobody catches it');
