// jq in a thread of its own: a filter that runs for ever holds up this thread alone, and the thread can be ended.
const { parentPort } = require('node:worker_threads');

// jq asks for the folder that svc was started in, and needs nothing of it; somebody may have removed it.
try {
  process.cwd();
} catch {
  process.cwd = () => '/';
}

const loaded = require('jq-web');
loaded.then(() => parentPort.postMessage('ready'));

parentPort.on('message', async ({ id, json, program }) => {
  const jq = await loaded;
  try {
    parentPort.postMessage({ id, text: jq.raw(json, program, ['-c']) ?? '' });
  } catch (error) {
    parentPort.postMessage({ id, said: String(error.stderr ?? error.message) });
  }
});
