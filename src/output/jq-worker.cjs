// jq in a thread of its own: a filter that runs for ever holds up this thread alone, and the thread can be ended.
const { parentPort } = require('node:worker_threads');

parentPort.on('message', async ({ id, json, program }) => {
  const jq = await require('jq-web');
  try {
    parentPort.postMessage({ id, text: jq.raw(json, program, ['-c']) ?? '' });
  } catch (error) {
    parentPort.postMessage({ id, said: String(error.stderr ?? error.message) });
  }
});
