import { main } from '../src/main.ts';
import { nodeContext } from '../src/node/context.ts';

// A script is started as `node script …`, and so does svc start itself; an executable is both node and script.
process.argv[1] = process.execPath;
const argv = process.argv.slice(2);
if (argv[0] === process.execPath) argv.shift();
main(argv, nodeContext()).then((exitCode) => {
  process.exitCode = exitCode;
});
