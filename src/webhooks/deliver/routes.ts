import { type WebhookEvent, webhookEvents } from '../../api/webhooks.ts';
import { Failure } from '../../errors.ts';
import { nearHint } from '../../text/near.ts';

/** Which events are looked at, and where each goes. */
export type Routes = {
  /** Undefined: all. */
  readonly events?: readonly WebhookEvent[];
  readonly forwardTo?: string;
  readonly byEvent: Readonly<Record<string, string>>;
};

/** What has no known event (an unreadable delivery) is never filtered away: somebody should see it. */
export const isShown = ({ events }: Pick<Routes, 'events'>, event: string | null): boolean =>
  events === undefined || event === null || events.some((each) => each === event);

export function targetOf(routes: Routes, event: string | null): string | undefined {
  if (!isShown(routes, event)) return undefined;
  return (event !== null && Object.hasOwn(routes.byEvent, event) && routes.byEvent[event]) || routes.forwardTo;
}

/** Of `--events`. */
export const parseEvents = (text: string): WebhookEvent[] => [
  ...new Set(text.split(',').map((name) => parseEvent(name.trim(), '--events'))),
];

export function parseEvent(name: string, flag: string): WebhookEvent {
  const known = webhookEvents.find((each) => each === name);
  if (known) return known;
  const swapped = flag === 'EVENT' && /^https?:/iu.test(name) ? 'The event stands before the URL. ' : '';
  throw new Failure('usage', `${flag}: there is no event "${name}".`, {
    hint: nearHint(name, webhookEvents) ?? `${swapped}Events: ${webhookEvents.join(', ')}.`,
  });
}

/** Of `--route`: `EVENT=URL`, each event at most once. */
export function parseRoutes(texts: readonly string[]): Record<string, string> {
  const routes: Record<string, string> = {};
  for (const text of texts) {
    const at = text.indexOf('=');
    if (at < 1) throw new Failure('usage', `--route takes EVENT=URL, not "${text}".`);
    const event = parseEvent(text.slice(0, at).trim(), '--route');
    if (event in routes) throw new Failure('usage', `--route names ${event} twice.`);
    routes[event] = parseTarget(text.slice(at + 1), '--route');
  }
  return routes;
}

/** A URL of an app; `3000` and `localhost:3000/hooks` are understood, since that is what people type. */
export function parseTarget(text: string, flag: string): string {
  const trimmed = text.trim();
  const url = /^\d+$/u.test(trimmed) ? `http://127.0.0.1:${trimmed}/` : withScheme(trimmed);
  if (URL.canParse(url) && /^https?:$/u.test(new URL(url).protocol)) return new URL(url).href;
  throw new Failure('usage', `${flag} must be an http:// or https:// URL, not "${text}".`);
}

const withScheme = (text: string): string => (/^[a-z][a-z\d+.-]*:\/\//iu.test(text) ? text : `http://${text}`);
