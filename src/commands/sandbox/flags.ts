import { param } from '../../command/param.ts';

/** What `sandbox start` and `sandbox exec` have in common. */
export const sandboxFlags = {
  seed: param.text(
    'What it holds at first: demo (the default), empty, mirror (the copy of svc mirror), or a JSON file',
    {
      placeholder: 'demo|empty|mirror|FILE',
      completes: 'files',
    },
  ),
  anonymise: param.toggle('With --seed mirror: with invented names, addresses, phones and texts'),
  consent: param.choice('Show a consent page (the default), or grant every authorization request at once', [
    'page',
    'auto',
  ]),
  rate_limit: param.choice('Limits in fixed windows (on, the default), in sliding ones, or none', [
    'on',
    'sliding',
    'off',
  ]),
  allow_http_targets: param.toggle('Let webhooks go to http:// addresses of this machine'),
  cors: param.toggle('Answer pages of any origin in a browser (CORS)'),
  latency: param.integer('Wait this long before every answer', { placeholder: 'MS', max: 600_000 }),
};
