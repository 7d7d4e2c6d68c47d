import { closeSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { programSink } from '../../src/webhooks/deliver/program.ts';

/** A process of its own that uses up its files, lets a program sink send, gives them back, and lets it send again. */
const clock = { now: () => new Date(), ticks: () => performance.now(), sleep: (ms: number) => sleep(ms, undefined) };
const sink = programSink({ name: 'crm', command: ['cat'], folder: '/', timeoutMs: 5_000 }, clock);
const event = { id: 'a', event: null, at: '', headers: {}, body: Buffer.from('{}') };
const never = new AbortController().signal;
const answers: unknown[] = [await sink.send([event], never)];
const files: number[] = [];
try {
  for (;;) files.push(openSync('/dev/null', 'r'));
} catch {
  answers.push(await sink.send([event], never));
  // What is thrown beside the answer comes in a later turn.
  await new Promise((resolve) => setImmediate(resolve));
}
for (const file of files) closeSync(file);
answers.push(await sink.send([event], never));
process.stdout.write(JSON.stringify(answers));
