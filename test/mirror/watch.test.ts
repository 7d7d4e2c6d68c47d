import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { few, type SandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { ok, onBothEngines, sql } from './engines.ts';
import { faults, faulty } from './faulty.ts';
import { request } from './truth.ts';

type Event = {
  kind: string;
  record_id: number;
  change: string;
  before: unknown;
  after: Record<string, unknown>;
  of?: string;
};

const act = (world: SandboxWorld, body: object) => world.control('POST', 'act', { account_id: 1, ...body });

/** Watches for so many rounds of requests to `/tickets`, with what happens before each of them. */
async function watched(
  world: SandboxWorld,
  argv: readonly string[],
  rounds: readonly (() => Promise<unknown>)[],
  { columns, signal = 'SIGINT' }: { readonly columns?: number; readonly signal?: string } = {},
) {
  const end = new AbortController();
  let round = 0;
  const exchange: SandboxWorld['exchange'] = async (asked) => {
    if (/\/tickets\?page=1&/u.test(asked.url)) {
      const happens = rounds[round++];
      if (happens) await happens();
      else end.abort(signal);
    }
    return world.exchange(asked);
  };
  return svc({ ...world, exchange }, ['watch', ...argv], { signal: end.signal, ...(columns && { columns }) });
}

const nothing = async () => {};
const events = (stdout: string): Event[] =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

onBothEngines('watch', ({ test, once, world: fresh, pulled, looked }) => {
  for (const [signal, code, played] of [
    ['SIGINT', 0, test],
    ['SIGTERM', 143, once],
    ['SIGHUP', 129, once],
  ] as const)
    played(`ends on ${signal} with ${code}, and what it told is remembered`, { tags: ['long'] }, async () => {
      const world = fresh();
      world.clock.advance(86_400_000);
      const news = async () => request(world, 'PATCH', '/tickets/8', { status: 'resolved' });
      const ran = await watched(world, ['--json', '--name', 'crm'], [nothing, news], { signal });
      expect(ran.exitCode).toBe(code);
      expect(events(ran.stdout)).toHaveLength(1);
      const next = await watched(world, ['--json', '--name', 'crm'], [nothing], { signal });
      expect(events(next.stdout)).toEqual([]);
    });

  test('--once tells what changed since the last run with that name, once, and ends with 0', {
    tags: ['long'],
  }, async () => {
    const world = fresh();
    world.clock.advance(86_400_000);
    const once = (...flags: string[]) => svc(world, ['watch', '--once', '--json', ...flags]);
    expect(await once()).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('would begin now') });
    expect(await once('--name', 'a', '--interval', '5')).toMatchObject({ exitCode: 2 });
    expect(await once('--name', 'cron')).toMatchObject({ exitCode: 0, stdout: '' });
    await request(world, 'PATCH', '/tickets/8', { status: 'resolved' });
    const second = await once('--name', 'cron');
    expect(second.exitCode).toBe(0);
    expect(events(second.stdout)).toMatchObject([{ kind: 'tickets', record_id: 8, change: 'updated' }]);
    expect(await once('--name', 'cron')).toMatchObject({ exitCode: 0, stdout: '' });
    expect(events((await once('--since', '5m')).stdout)).toMatchObject([{ record_id: 8 }]);
  });

  once('--once that fails ends with the code of the failure, and the next run tells what it did not', async () => {
    const world = fresh();
    world.clock.advance(86_400_000);
    const once = (of: SandboxWorld) => svc(of, ['watch', '--once', '--json', '--name', 'cron', '--max-wait', '0']);
    expect((await once(world)).exitCode).toBe(0);
    await request(world, 'PATCH', '/tickets/8', { status: 'resolved' });
    const exchange: SandboxWorld['exchange'] = async () => ({ lost: 'before-sending', reason: 'refused', detail: '' });
    expect(await once({ ...world, exchange })).toMatchObject({ exitCode: 10, stdout: '' });
    expect(events((await once(world)).stdout)).toMatchObject([{ record_id: 8 }]);
  });

  for (const [how, isBroken] of [
    ['has read', false],
    ['could not read', true],
  ] as const)
    once(`tells what came while it followed, and the first pull ${how}`, { tags: ['long'] }, async () => {
      const world = fresh({ seed: few });
      const round = (of: SandboxWorld) => svc(of, ['watch', '--once', '--name', 'cron', '--max-wait', '2', '--json']);
      expect((await round(world)).stdout).toBe('');
      world.clock.advance(600_000);
      const { ticket } = (await request(world, 'POST', '/tickets', { subject: 'New' })) as { ticket: { id: number } };
      await request(world, 'POST', '/tickets/8/replies', { body: 'Said meanwhile' });
      world.clock.advance(10_000);
      const broken: SandboxWorld = {
        ...world,
        async exchange(asked) {
          const isIt = ['/tickets/8', `/tickets/${ticket.id}`].includes(new URL(asked.url).pathname);
          return isIt ? { status: 500, headers: {}, body: '{"error":"Server Error"}' } : world.exchange(asked);
        },
      };
      if (isBroken) await round(broken);
      world.clock.advance(600_000);
      await svc(isBroken ? broken : world, ['mirror', 'pull', '--max-wait', '2']);
      world.clock.advance(600_000);
      const told = events((await round(world)).stdout);
      const created = told.filter(({ change }) => change === 'created').map(({ after }) => after.subject ?? after.body);
      expect(created.sort()).toEqual(['New', 'Said meanwhile']);
    });

  test('tells what changes from now on, without reading the whole account first', { tags: ['long'] }, async () => {
    const world = fresh();
    world.clock.advance(86_400_000);
    const ran = await watched(
      world,
      ['--json'],
      [
        nothing,
        async () => {
          await request(world, 'PATCH', '/tickets/8', { status: 'resolved' });
          await request(world, 'POST', '/tickets', { subject: 'Brand new' });
          await act(world, { kind: 'customer_message', conversation_id: 2, body: 'Is anybody there?' });
        },
        async () => request(world, 'PATCH', '/tickets/8', { status: 'open' }),
        nothing,
      ],
    );
    const told = events(ran.stdout).map(
      ({ kind, change, after }) => `${kind} ${change} ${after.subject ?? after.body ?? ''}`,
    );
    expect(told).toContain('tickets created Brand new');
    expect(told.filter((line) => line.includes('Is anybody there?'))).toEqual([
      'conversation_messages created Is anybody there?',
    ]);
    const [first, second] = events(ran.stdout).filter(({ kind, record_id }) => kind === 'tickets' && record_id === 8);
    expect([first?.after.status, second?.after.status]).toEqual(['resolved', 'open']);
    expect(second?.before).toMatchObject({ status: 'resolved' });
    // Old messages of a thread that was never read are no news.
    expect(told.filter((line) => line.startsWith('ticket_messages'))).toEqual([]);
    expect(world.sent.filter((line) => /\/(tickets|conversations)\/\d/u.test(line)).length).toBeLessThan(8);
    await ok(world, 'mirror pull');
    expect(await sql(world, 'SELECT count(*) AS n FROM tickets')).toEqual([{ n: 45 }]);
  });

  once('prints a line for people, in which a customer cannot act on the terminal', async () => {
    const world = await pulled();
    world.clock.advance(600_000);
    const evil = '\u001b[2Jgone \u202egnp';
    const ran = await watched(
      world,
      [],
      [
        nothing,
        async () => {
          await request(world, 'PATCH', '/tickets/8', { status: 'resolved' });
          await act(world, { kind: 'customer_message', conversation_id: 1, body: evil });
        },
        nothing,
      ],
      { columns: 100 },
    );
    expect(ran.stdout).toContain('T-1008 Export stops at 10,000 rows: open → resolved');
    expect(ran.stdout).not.toContain(evil);
    expect(ran.stdout).toContain('^[[2Jgone');
  });

  once('cuts the name of a record, never what changed', { tags: ['long'] }, async () => {
    const world = await pulled();
    world.clock.advance(600_000);
    const resolve = async () => request(world, 'PATCH', '/tickets/8', { status: 'resolved' });
    for (const [columns, status] of [
      [50, 'resolved'],
      [60, 'open'],
    ] as const) {
      const change = status === 'resolved' ? resolve : async () => request(world, 'PATCH', '/tickets/8', { status });
      const ran = await watched(world, ['tickets'], [nothing, change, nothing], { columns });
      expect(ran.stdout).toMatch(/T-1008 .*…: (?:open → resolved|resolved → open)/u);
      world.clock.advance(600_000);
    }
  });

  test('goes on where the run of that name was, and begins in the past with --since', { tags: ['long'] }, async () => {
    const world = await pulled();
    await watched(world, ['tickets', '--name', 'crm', '--json'], [nothing]);
    world.clock.advance(600_000);
    await request(world, 'PATCH', '/tickets/8', { subject: 'While nobody watched' });
    await ok(world, 'mirror pull --only tickets');
    const once = events((await watched(world, ['tickets', '--name', 'crm', '--json'], [nothing])).stdout);
    expect(once.map(({ after }) => after.subject)).toEqual(['While nobody watched']);
    expect(events((await watched(world, ['tickets', '--name', 'crm', '--json'], [nothing])).stdout)).toEqual([]);
    expect(events((await watched(world, ['tickets', '--json'], [nothing])).stdout)).toEqual([]);
    const past = events((await watched(world, ['tickets', '--json', '--since', '1h'], [nothing])).stdout);
    expect(past).toHaveLength(1);
  });

  test('--since without a copy tells what happened since then, by the clock of the service, and nothing older', async () => {
    const world = fresh();
    world.clock.advance(86_400_000);
    await request(world, 'PATCH', '/tickets/7', { subject: 'Two hours ago' });
    world.clock.advance(3_600_000 + 1_800_000);
    await request(world, 'PATCH', '/tickets/8', { subject: 'Half an hour ago' });
    await request(world, 'POST', '/tickets/9/replies', { body: 'And an answer' });
    await request(world, 'POST', '/contacts/create', {
      ...{ name: 'New', last_name: 'L', email: 'new@example.com', phone: '+14155550123' },
    });
    world.clock.advance(1_800_000);
    const clock = { ...world.clock, now: () => new Date(world.clock.now().getTime() + 40 * 86_400_000) };
    const argv = ['tickets', 'contacts', '--since', '1h', '--json'];
    const told = events((await watched({ ...world, clock }, argv, [nothing, nothing])).stdout);
    const said = told.map(
      ({ kind, change, after }) => `${kind} ${change} ${after.subject ?? after.body ?? after.name}`,
    );
    expect(said).toContain('tickets updated Half an hour ago');
    expect(said).toContain('ticket_messages created And an answer');
    expect(said).toContain('contacts created New');
    expect(said.filter((line) => line.includes('Two hours ago'))).toEqual([]);
    expect(new Set(said).size).toBe(said.length);
  });

  once('says once, not at every look, that an answer cannot be whole', async () => {
    const world = await pulled();
    const broken = faulty(world, (url) => (url.pathname === '/conversations' ? faults['without meta'] : undefined));
    const ran = await watched(broken, ['--json'], [nothing, nothing, nothing, nothing]);
    expect(ran.stderr.match(/Not whole: conversations/gu)).toHaveLength(1);
  });

  once(
    '--exec gets each change on standard input, and no shell ever sees what a customer wrote',
    { tags: ['long'] },
    async () => {
      const world = await pulled();
      world.clock.advance(600_000);
      const out = join(world.folder, 'out.jsonl');
      const script = join(world.folder, 'take.mjs');
      writeFileSync(script, `import fs from 'node:fs'; fs.appendFileSync(process.argv[2], fs.readFileSync(0));`);
      const evil = `"; touch ${join(world.folder, 'owned')} #$(touch x)\`touch y\``;
      const argv = ['--exec', `"${process.execPath}" ${script} ${out}`];
      await watched(world, argv, [nothing, async () => request(world, 'POST', '/tickets', { subject: evil }), nothing]);
      const [event] = events(readFileSync(out, 'utf8'));
      expect(event?.after.subject).toBe(evil);
      expect(() => readFileSync(join(world.folder, 'owned'))).toThrow();
    },
  );

  once('--exec with a quote that does not end is refused, before anything is asked', async () => {
    const ran = await svc(await looked(), ['watch', '--exec', `"./notify --quiet`]);
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('--exec has a quote that does not end');
  });

  once(
    '--exec that fails is tried three times and reported, and the next change goes on',
    { tags: ['long'] },
    async () => {
      const world = await pulled();
      world.clock.advance(600_000);
      const tries = join(world.folder, 'tries');
      const script = join(world.folder, 'fail.mjs');
      writeFileSync(script, `import fs from 'node:fs'; fs.appendFileSync(process.argv[2], 'x'); process.exit(3);`);
      const change = async () => {
        await request(world, 'POST', '/tickets', { subject: 'One' });
        await request(world, 'POST', '/tickets', { subject: 'Two' });
      };
      const ran = await watched(
        world,
        ['--exec', `"${process.execPath}" ${script} ${tries}`],
        [nothing, change, nothing],
      );
      expect(readFileSync(tries, 'utf8')).toBe('x'.repeat(6));
      expect(ran.stderr).toContain('--exec failed 3 times for tickets');
      expect(ran.stdout).toContain('Two');
    },
  );

  once(
    '--once ends at a change whose --exec failed three times, and the next run begins with it',
    {
      tags: ['long'],
    },
    async () => {
      const world = await pulled();
      world.clock.advance(600_000);
      const script = join(world.folder, 'pick.mjs');
      const out = join(world.folder, 'out.jsonl');
      writeFileSync(
        script,
        `import fs from 'node:fs';
      const text = fs.readFileSync(0, 'utf8');
      if (process.argv[3] && text.includes(process.argv[3])) process.exit(3);
      fs.appendFileSync(process.argv[2], text);`,
      );
      const once = (bad = '') =>
        svc(world, ['watch', '--once', '--name', 'cron', '--exec', `"${process.execPath}" ${script} ${out} ${bad}`]);
      expect((await once()).exitCode).toBe(0);
      for (const subject of ['One', 'Two', 'Three']) await request(world, 'POST', '/tickets', { subject });
      const failed = await once('Two');
      expect(failed.exitCode).toBe(8);
      expect(failed.stderr).toContain('--exec failed 3 times for tickets');
      expect(failed.stdout).toContain('Three');
      expect(failed.stdout).not.toMatch(/Two|One/u);
      expect((await once()).exitCode).toBe(0);
      expect(events(readFileSync(out, 'utf8')).map(({ after }) => after.subject)).toEqual(['Three', 'Two', 'One']);
    },
  );

  once('a program of --exec that is not there is exit 2 before the first change', async () => {
    const world = await looked();
    for (const program of ['./no-such-program', 'no-such-program']) {
      const env = { ...world.env, PATH: world.folder };
      const ran = await svc({ ...world, env }, ['watch', '--once', '--since', '1h', '--exec', program]);
      expect(ran.exitCode).toBe(2);
      expect(ran.stderr).toContain(`is not there, or cannot be run: ${program}`);
    }
  });

  once(
    'a program of --exec that goes away ends the watch, and its change comes again',
    {
      tags: ['long'],
    },
    async () => {
      const world = await pulled();
      world.clock.advance(600_000);
      const program = join(world.folder, 'notify');
      writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
      const leaves = async () => {
        rmSync(program);
        await request(world, 'POST', '/tickets', { subject: 'One' });
      };
      const ran = await watched(world, ['--name', 'crm', '--exec', program], [nothing, leaves, nothing]);
      expect(ran.exitCode).toBe(8);
      expect(ran.stdout).toBe('');
      expect((await watched(world, ['--name', 'crm'], [nothing])).stdout).toContain('One');
    },
  );

  once('outlives a service that is away, and says so', { tags: ['long'] }, async () => {
    const world = await pulled();
    world.clock.advance(600_000);
    const fail = () => world.control('POST', 'faults', { path: '/tickets', action: 'status', status: 500, times: 12 });
    const ran = await watched(
      world,
      ['--json'],
      [
        nothing,
        fail,
        ...Array.from({ length: 16 }, () => nothing),
        async () => request(world, 'PATCH', '/tickets/8', { subject: 'Later' }),
        nothing,
      ],
    );
    expect(ran.stderr).toContain('Trying again');
    expect(ran.stderr).toContain('answers again');
    expect(events(ran.stdout).map(({ after }) => after.subject)).toContain('Later');
  });
});
