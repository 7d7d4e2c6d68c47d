import { laidOut } from './topic-parts.ts';

/** `svc help serve`. */
export const serving = laidOut([
  { say: 'The file that svc webhooks serve --config reads. It is YAML; only sinks must be there.' },
  {
    rows: [
      ['listen.host, .port, .path', 'where svc receives deliveries (127.0.0.1, 8977, /)'],
      ['listen.max_connections', 'how many connections may be open at once (512)'],
      ['admin.host, .port', 'the pages /healthz, /readyz and /metrics; without admin there are none'],
      ['inbox', 'a folder (default: in the state folder), or a postgres:// URL for several instances'],
      ['keep', 'how many events are kept; those that wait stay too (100000)'],
      ['secrets.store, .env', 'secrets that svc stored (true), and variables that hold some (SVC_WEBHOOK_SECRET)'],
      ['accounts[].name, .path', 'several accounts in one inbox, each with a profile, with secrets.env, or with both'],
      ['sinks[].name', 'what waits is kept under this name, so a new name is a new sink'],
      ['sinks[].events, .filter', 'which events: by name, and by jq; every event without them'],
      ['sinks[].concurrency', 'how many records may be at the sink at once, each in order; not for a file (1)'],
      ['sinks[].timeout', 'how long one event may take (30s)'],
      ['sinks[].http.url', 'the same bytes and headers by POST; any 2xx is success'],
      ['sinks[].exec.command', 'a program and its arguments, with the event on standard input; exit 0 is success'],
      ['sinks[].file.path', 'a file, with one event a line'],
      [
        'sinks[].nats.servers',
        'NATS JetStream, with .subject, .credentials and .stream; its acknowledgement is success',
      ],
      ['retry.attempts, .max_age', 'after these the event is a dead letter of the sink (8, 24h)'],
      ['retry.pause', 'before the second attempt, and longer before each further one (1s)'],
    ],
  },
  { say: 'One of each kind of sink:' },
  {
    points: [
      '{ name: app, http: { url: http://localhost:3000/hooks } }',
      '{ name: crm, events: [ticket.created], exec: { command: [./to-crm] } }',
      '{ name: archive, file: { path: events.jsonl } }',
      '{ name: bus, nats: { servers: [nats://bus:4222], subject: svc.all } }',
    ],
  },
  { say: 'To check a file without starting anything:' },
  { run: ['svc webhooks serve --config examples/svc-webhooks.yaml --check'] },
]);
