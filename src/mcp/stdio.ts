import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { checkedMessages } from './messages.ts';
import { openAssistant } from './server.ts';
import type { Grant } from './tool.ts';
import { openLine } from './transport.ts';

/**
 * Serves the granted operations over standard input and output until the client closes its end or a signal comes; both
 * are the normal end. Calls that are under way are answered first.
 */
export async function serveStdio(ctx: Context, settings: Settings, grant: Grant): Promise<void> {
  const newServer = await openAssistant(ctx, settings, grant);
  const server = newServer();
  const line = openLine(ctx);
  await server.connect(line.transport);
  checkedMessages(line.transport);
  line.watch();
  await line.ended;
  await line.idle();
  await server.close();
  line.close();
  const failure = line.failure();
  if (failure) throw failure;
}
