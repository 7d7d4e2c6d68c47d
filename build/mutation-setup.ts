import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll } from 'vitest';

// A file that a test is the first to load counts as covered by that test alone, though its constants serve them all.
// Loaded here, before any test, it counts as static: a change in it is held against every test of the part.
for (const file of process.env.MUTATION_FILES?.split(' ') ?? []) await import(join(import.meta.dirname, '..', file));

// Hundreds of thousands of test folders would fill the disk before the run ends.
const folder = mkdtempSync(join(process.env.MUTATION_FOLDER ?? '', 'file-'));
process.env.TMPDIR = folder;
afterAll(() => rm(folder, { recursive: true, force: true }));
