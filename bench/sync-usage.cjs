// Loaded by `node --require`: tells the parent what the process took, on the file descriptor 3.
const { writeSync } = require('node:fs');

process.on('exit', () => {
  const { maxRSS } = process.resourceUsage();
  const { user, system } = process.cpuUsage();
  writeSync(
    3,
    JSON.stringify({ seconds: process.uptime(), cpuSeconds: (user + system) / 1e6, peakMiB: maxRSS / 1024 }),
  );
});
