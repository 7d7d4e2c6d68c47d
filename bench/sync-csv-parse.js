import { createReadStream } from 'node:fs';
import { parse } from 'csv-parse';

/** The library that is the oracle of our parser's test. */
let records = 0;
const parser = createReadStream(process.argv[2], { highWaterMark: 65_536 }).pipe(parse({ bom: true }));
for await (const _ of parser) records++;
process.stdout.write(`${records - 1}\n`);
