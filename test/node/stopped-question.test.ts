/** Ctrl-Z at a question, and `fg`: on a real terminal, in a shell that stops and continues its jobs. */
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { type Built, buildSvc } from '../built.ts';
import { startOnTerminal } from '../pty.ts';

let built: Built;
beforeAll(async () => {
  built = await buildSvc();
});
afterAll(() => built.remove());

const questions = [
  ['confirm("Really?")', /Really\?/u, 'y\r', 'told: true'],
  ['text("Name")', /Name/u, 'Ada\r', 'told: "Ada"'],
  ['secret("Key")', /Key/u, 'k1\r', 'told: "k1"'],
  ['choose("Which", [{ value: "one" }, { value: "two" }])', /Which[\s\S]*two/u, 'tw\r', 'told: "two"'],
] as const;

test.each(questions)('%s is asked once more, each time, and then answered', async (question, asked, keys, told) => {
  const script = `
const { nodeContext } = require(${JSON.stringify(join(built.script, '..', '..', 'dist', 'main.cjs'))});
const ask = async () => console.error('told: ' + JSON.stringify(await nodeContext().ask.${question}));
ask().then(() => process.exit(), (error) => { console.error(error.message); process.exit(1); });`;
  const pty = startOnTerminal(['bash', '--norc', '--noprofile', '-i'], {
    env: { PS1: 'prompt> ', HISTFILE: '', SCRIPT: script },
  });
  try {
    await pty.shows('prompt>');
    pty.type(`clear; ${process.execPath} -e "$SCRIPT"\r`);
    await pty.shows(asked);
    for (const _ of [1, 2]) {
      await pty.press('\x1a', /Stopped/u);
      pty.type('clear\r');
      await pty.hides(/Stopped/u);
      pty.type('fg\r');
      await pty.shows(asked);
    }
    await pty.press(keys, told);
  } finally {
    pty.kill();
  }
});
