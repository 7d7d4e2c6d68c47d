import type { Grant, Operation } from '../api/operation.ts';

/** What a tool of an assistant may do, as a person grants it (docs/mcp.md). */
export type Reach = 'read' | Grant;

export const reachOf = ({ grant }: Pick<Operation, 'grant'>): Reach => grant ?? 'read';

/** The flag of svc mcp that grants it; reading needs none. */
export const flagFor: Readonly<Record<Grant, string>> = {
  write: '--allow-write',
  send: '--allow-send',
  webhooks: '--allow-webhooks',
};
