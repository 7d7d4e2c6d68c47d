import { afterEach, expect, test } from 'vitest';
import { operations } from '../../src/api/index.ts';
import type { Operation } from '../../src/api/operation.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { type Connected, connected } from './connected.ts';

// biome-ignore lint/suspicious/noExplicitAny: schemas of every tool, looked into from all sides
type Any = any;

const credentials = { SVC_API_KEY: 'key_acme', SVC_ACCESS_TOKEN: 'token', SVC_M2M_TOKEN: 'm2m_sandbox' };
let open: Connected[] = [];

afterEach(async () => {
  for (const each of open) await each.end();
  open = [];
});

async function toolsWith(...flags: string[]): Promise<Any[]> {
  const connection = await connected(sandboxWorld({ seed: 'demo', env: credentials }), flags);
  open.push(connection);
  return (await connection.client.listTools()).tools;
}

const everything = () => toolsWith('--allow-write', '--allow-send', '--allow-webhooks');

test('the list of everything that reads takes at most 8,000 characters', async () => {
  expect(JSON.stringify({ tools: await toolsWith() }).length).toBeLessThanOrEqual(8_000);
});

test('every tool has a title, a schema of its answer and a description of each argument', async () => {
  const undescribed: string[] = [];
  const look = (schema: Any, path: string): void => {
    for (const [name, field] of Object.entries<Any>(schema?.properties ?? {})) {
      if (!field.description) undescribed.push(`${path}.${name}`);
      look(field, `${path}.${name}`);
    }
    for (const inner of [schema?.items, ...(schema?.anyOf ?? [])]) if (inner) look(inner, path);
  };
  for (const { name, title, description, inputSchema, outputSchema, annotations } of await everything()) {
    expect(title, name).toMatch(/^[A-Z][a-z ]+$/u);
    expect(description, name).toMatch(/\.$/u);
    expect(outputSchema, name).toMatchObject({ type: 'object' });
    // What reads has no room for more in its list.
    if (!annotations.readOnlyHint) expect(Object.keys(outputSchema.properties ?? {}), name).not.toEqual([]);
    look(inputSchema, name);
  }
  expect(undescribed).toEqual([]);
});

test('every tool that reads takes `fields`', async () => {
  for (const { name, inputSchema } of await toolsWith()) expect(inputSchema.properties, name).toHaveProperty('fields');
});

test('what overwrites or removes says so, and what only adds does not', async () => {
  const hints = new Map((await everything()).map(({ name, annotations }) => [name, annotations.destructiveHint]));
  const destructive = [...hints].filter(([, hint]) => hint === true).map(([name]) => name);
  expect(destructive.sort()).toEqual(
    [
      'updateBranding',
      'updateContact',
      'syncContacts',
      'updateContactList',
      'deleteContactList',
      'createAndSyncListContacts',
      'syncListContacts',
      'removeListContacts',
      'updateTicket',
      'resolveConversation',
      'updateChangelogEntry',
      'deleteWebhook',
      'contacts_sync',
    ].sort(),
  );
  for (const { id, safety } of Object.values<Operation>(operations)) {
    if (safety === 'verify' || safety === 'once') expect(hints.get(id), id).toBe(false);
  }
});
