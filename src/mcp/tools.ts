import { hearersOf } from '../api/hearers.ts';
import { operations } from '../api/index.ts';
import type { Table } from '../api/operation.ts';
import { flagFor } from '../derive/grants.ts';
import { type Tool as Derived, toolsOf } from '../derive/mcp-tools.ts';
import { Failure } from '../errors.ts';
import { nearHint } from '../text/near.ts';
import { contactsSync } from './contacts-sync.ts';
import { copyTools } from './copy.ts';
import { listDrafts } from './drafts.ts';
import { findContact, findTicket } from './find.ts';
import { fromDerived } from './from-operation.ts';
import type { Grant, Tool } from './tool.ts';

/** The tools that were granted, and why the others are not there. Throws a usage Failure for a `--tools` that cannot be. */
export function grantedTools(grant: Grant, table: Table = operations) {
  const all: Tool[] = [
    ...toolsOf({ maySend: grant.send }, table).map((derived) =>
      fromDerived(grant.draftSends ? drafting(derived) : derived, grant),
    ),
    findContact,
    findTicket,
    ...copyTools,
    contactsSync,
    ...(grant.draftSends ? [listDrafts] : []),
  ];
  const missing = ({ reach }: Tool): string | undefined =>
    reach === 'read' || grant[reach] ? undefined : flagFor[reach];
  const isIn = ({ toolset }: Tool): boolean => grant.toolsets?.includes(toolset) ?? true;
  for (const name of grant.only ?? []) {
    const tool = all.find((each) => each.name === name);
    if (!tool) {
      const names = all.map((each) => each.name);
      throw new Failure('usage', `--tools: there is no tool ${name}.`, {
        hint: nearHint(name, names) ?? `There are ${names.join(', ')}.`,
      });
    }
    const flag = missing(tool);
    if (flag) throw new Failure('usage', `--tools: ${name} needs ${flag}.`);
    if (!isIn(tool)) throw new Failure('usage', `--tools: ${name} needs --toolsets ${tool.toolset} too.`);
  }
  return {
    tools: all.filter((tool) => !missing(tool) && isIn(tool) && (grant.only?.includes(tool.name) ?? true)),
    refusalOf(name: string): string | undefined {
      const tool = all.find((each) => each.name === name);
      if (!tool) return undefined;
      const flag = missing(tool);
      if (flag) return `${name} was not granted: it needs ${flag}.`;
      return isIn(tool)
        ? `${name} is not among --tools.`
        : `${name} is not among --toolsets: it needs ${tool.toolset}.`;
    },
  };
}

/** The model is told that nothing leaves. */
const drafting = (derived: Derived): Derived =>
  hearersOf(derived.operation) === undefined
    ? derived
    : {
        ...derived,
        description: `${derived.description} Nothing is sent: what would reach anybody becomes a draft that a person approves.`,
      };
