// A process that records writes until it is killed. It prints each number once its line is in the file.
import { openAudit } from '../../src/audit/audit.ts';
import { aboutIn } from './about.ts';

const [, , state = '', name = '', count = '0'] = process.argv;
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const clock = { now: () => new Date(), ticks: () => performance.now(), sleep };
const audit = openAudit({ clock, files: { state } }, 'acme', 'on');

async function lane(): Promise<void> {
  for (let i = 0; i < Number(count); i++) {
    const begun = await audit.begin(aboutIn(name), '');
    process.stdout.write(`${begun.seq}\n`);
    if (Math.random() < 0.1) await sleep(Math.random() * 20);
    await begun.ended({ outcome: 'done', status: 200 });
  }
}

await Promise.all([lane(), lane(), lane()]);
