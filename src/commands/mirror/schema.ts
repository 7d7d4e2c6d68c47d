import { defineCommand } from '../../command/command.ts';
import { dbFlag } from '../../command/copy-flag.ts';
import { placeOfCopy } from '../../mirror/store/place.ts';
import { bare } from '../../output/bare.ts';

export const copySchema = defineCommand({
  name: 'schema',
  summary: 'The tables of the local copy, as SQL',
  flags: dbFlag,
  examples: ['svc mirror schema'],
  async run(ctx, { flags }) {
    const [place, { shownSchema }] = await Promise.all([
      placeOfCopy(ctx, flags.db),
      import('../../mirror/store/schema.ts'),
    ]);
    const engine = /^postgres/iu.test(place) ? 'postgres' : 'sqlite';
    const sql = shownSchema(engine);
    return bare({ engine, sql }, sql);
  },
});
