// Runs several command lines in this terminal, one after the other, each after a line with ␞ and its number: a process
// for each would take a minute. Standard input holds nothing.
'use strict';

const [dist, list] = process.argv.slice(2);
const { main, nodeContext } = require(`${dist}/main.cjs`);

async function run() {
  const ctx = nodeContext();
  for (const [at, argv] of JSON.parse(list).entries()) {
    process.stdout.write(`␞${at}\n`);
    await main(argv, ctx);
  }
  process.stdout.write('␞end\n');
}

void run();
