import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Library = {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly description?: string;
  /** What its licence files say; a library without one names its licence in the manifest alone. */
  readonly texts: readonly string[];
};

/** The libraries that modules are of, and those in `more` folders, by name. */
export function librariesOf(moduleIds: Iterable<string>, more: readonly string[] = []): readonly Library[] {
  const folders = new Set(more);
  for (const id of moduleIds) {
    const folder = libraryFolder(id);
    if (folder) folders.add(folder);
  }
  return [...folders].map(readLibrary).sort((a, b) => compare(a.name, b.name));
}

/** `…/node_modules/@scope/name` of a module within it; undefined for svc's own. */
export const libraryFolder = (moduleId: string): string | undefined =>
  /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/?]+)\//u.exec(moduleId.replaceAll('\\', '/'))?.[1];

function readLibrary(folder: string): Library {
  const { name, version, license, description } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|copying|notice)/iu.test(file));
  if (files.length === 0 && !license) throw new Error(`${name} says nothing about its licence`);
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return { name, version, license, description, texts };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
