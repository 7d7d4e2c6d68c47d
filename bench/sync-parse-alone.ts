import { createReadStream } from 'node:fs';
import { createCsvParser } from '../src/tabular/csv.ts';

/** The parser and nothing else: what the dry run is measured against. */
const parser = createCsvParser(',');
let records = 0;
for await (const text of createReadStream(process.argv[2] ?? '', { encoding: 'utf8', highWaterMark: 65_536 })) {
  records += parser.push(text as string).length;
}
records += parser.end().length;
process.stdout.write(`${records - 1}\n`);
