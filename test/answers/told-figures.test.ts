// The help of `svc report` tells of every figure.
import { expect, test } from 'vitest';
import type { FigureName } from '../../src/answers/figures.ts';
import { report } from '../../src/commands/report/index.ts';

/** In its words. */
const words: Readonly<Record<FigureName, string>> = {
  tickets: 'Tickets opened, resolved and left',
  first_response: 'until the first response',
  resolution: 'until resolved',
  waiting: 'what waits now',
  opened: 'opened',
  resolved: 'resolved',
  by_source: 'by source',
  by_priority: 'priority',
  by_weekday: 'weekday',
  by_hour: 'hour',
  conversations_by_channel: 'conversations',
  conversations_by_handling: 'conversations',
  ratings: 'ratings',
  contacts: 'new contacts',
  active_customers: 'most active customers',
  most_voted: 'most voted feedback',
  published: 'what was published',
};

test.each(Object.entries(words))('%s', (_, said) => {
  expect(report.details?.split('\n')[0]).toContain(said);
});
