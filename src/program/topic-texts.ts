import { globalFlags, outputWords } from '../command/global-flags.ts';
import { entries } from '../commands/index.ts';
import type { outputs } from '../config/outputs.ts';
import { exitCodes, type FailureKind } from '../errors.ts';
import { holding } from './sends-text.ts';
import { serving } from './serve-text.ts';
import { laidOut, type Row } from './topic-parts.ts';
import { type TopicName, topics } from './topics.ts';

const meanings: Record<FailureKind, string> = {
  failed: 'anything else; 5xx on a read; a declined confirmation; the message says what was done before',
  usage: 'bad flags, or input that breaks a limit: nothing was sent',
  'not-found': 'the service has no such record (404)',
  auth: 'no credential, or one that is not accepted (401)',
  forbidden: 'a scope or a module is missing (403); the message says which, and how to fix it',
  policy: 'a rule of your own policy forbids it (svc help sends); --draft leaves it for a person',
  rejected: 'the service refused the input (422 and other 4xx)',
  'rate-limited': 'the rate limit outlasted --max-wait',
  partial: 'done in part: some rows failed, or it stopped half-way; the message says what is done',
  unknown: 'a write may or may not have happened: look before you repeat it',
  network: 'the service could not be reached; nothing happened in the whole command',
  differs: '--check found differences',
  hangup: 'SIGHUP, when the terminal goes away; as after Ctrl-C',
  interrupted: 'Ctrl-C; state is saved where there is state',
  terminated: 'SIGTERM; the same',
};

const variables: readonly (readonly [name: string, about: string])[] = [
  ['SVC_PROFILE', 'which saved login (--profile)'],
  ['SVC_BASE_URL, SVC_AUTH_URL', 'the service; may carry a path prefix (--base-url, --auth-url)'],
  ['SVC_API_KEY', 'an account API key, for CI; nothing is stored'],
  ['SVC_ACCESS_TOKEN', 'an OAuth access token, likewise'],
  ['SVC_M2M_TOKEN', 'the first-party machine-to-machine token, likewise'],
  ['SVC_CLIENT_ID, SVC_CLIENT_SECRET', 'the pre-registered OAuth client'],
  ['SVC_CONFIG_DIR, SVC_STATE_DIR', "where config and state live (default: the platform's own folders)"],
  ['SVC_TOKEN_STORE', 'keyring or file; default: the keyring, falling back to the file with a warning'],
  ['SVC_WEBHOOK_SECRET', 'signing secret for webhooks listen, serve, trigger, catch-up, verify and sign'],
  ['SVC_MIRROR_DB', 'where svc mirror keeps the copy: a file or postgres:// URL, which may hold a password'],
  ['SVC_SENDS', 'allow, ask or draft: what becomes of what would reach a customer (svc help sends)'],
  ['SVC_DRAFTS_DB', 'where drafts are kept: a folder or postgres:// URL, which may hold a password'],
  ['SVC_POLICY', 'a file with rules for sends, beside policy.yaml of the configuration folder'],
  ['SVC_PARTNER_SEGMENT', 'the literal segment in the path of events (default: partner)'],
  ['SVC_OUTPUT', `${outputWords} (--output)`],
  ['SVC_NO_INPUT, CI', 'never ask (--no-input)'],
  ['SVC_DEBUG', '1 shows each HTTP exchange (--debug)'],
  ['SVC_TIMEOUT', 'seconds per attempt (--timeout)'],
  ['SVC_MAX_WAIT', 'seconds to wait out rate limits and retries (--max-wait)'],
  ['SVC_SETTLE', 'seconds to look for a write whose answer was lost (--settle)'],
  ['SVC_INSECURE_HTTP', 'with 1: allow an http:// service that is not on this machine (--insecure-http)'],
  ['NO_COLOR, FORCE_COLOR, TERM', 'colour; TERM=dumb means none'],
  ['PAGER, VISUAL, EDITOR, BROWSER', 'the programs that svc opens'],
  ['HTTP_PROXY, HTTPS_PROXY, NO_PROXY', 'proxies'],
  ['NODE_EXTRA_CA_CERTS', 'a file with further certificate authorities'],
  ['NODE_DISABLE_COMPILE_CACHE', 'with 1: keep no compiled code in the cache folder for a quicker start'],
];

const commands = laidOut([
  { rows: entries.map(({ name, summary }): Row => [name, summary]) },
  { say: 'The commands of a group: svc <group> --help. Help for a command: svc <command> --help' },
]);

const flags = laidOut([
  { say: 'Flags that every command takes.' },
  { rows: globalFlags },
  {
    say: 'A flag with one value is refused where it is given two that differ; lists with commas between, such as --fields, add to each other.',
  },
  { say: 'As data, with the flags of one command: svc <command> --help --json' },
]);

const environment = laidOut([
  { say: 'Variables that svc reads. A flag overrides its variable; a variable overrides the profile.' },
  { rows: variables },
]);

/** Every exit code with its kind and meaning; 0 is neither. */
export const exitMeanings = Object.entries(exitCodes).map(([kind, code]) => ({
  code,
  kind,
  meaning: meanings[kind as FailureKind],
}));

const exits = laidOut([
  { say: "Exit codes are part of svc's public interface." },
  {
    rows: [
      ['  0', 'done; also an empty list, and a closed pipe'],
      // Every code has its kind and its meaning, and the kinds are the keys of both.
      ...exitMeanings.map(({ code, kind, meaning }): Row => [`${code}`.padStart(3), `${kind}: ${meaning}`]),
    ],
  },
]);

const formRows: Readonly<Record<(typeof outputs)[number], Row | undefined>> = {
  // What the sentence above them tells.
  table: undefined,
  json: ['--json', 'one JSON document: records exactly as the service sent them, unknown fields kept'],
  jsonl: ['--output jsonl', 'one record a line, as it arrives'],
  csv: ['--output csv', 'RFC 4180, with a header; --safe-cells disarms cells that a spreadsheet would run as formulas'],
  yaml: ['--output yaml', 'one YAML document'],
};

const output = laidOut([
  {
    say:
      'On a terminal svc prints aligned tables, with times in your zone; where room is short, the least important columns ' +
      'are left out. A write says one line about what it changed. In a pipe svc prints the same rows tab-separated and ' +
      'whole, with exact times, without header and colour, and the record of a write. Data goes to standard output; ' +
      'notes, progress, warnings and errors go to standard error.',
  },
  {
    rows: [
      ...Object.values(formRows).filter((row) => row !== undefined),
      [
        '--fields id,contact.email',
        "which fields, in which order, by name or by the table's header; nested in JSON, dotted column names elsewhere. In csv of what svc itself keeps (audit, drafts, auth), nested values are JSON in a cell, unless you name one, such as who.user",
      ],
      ["--jq '.[].email'", 'the real jq over the JSON; strings are printed raw, null as an empty line'],
    ],
  },
  {
    say: 'What is printed line by line, as svc watch does, has table, json and jsonl; json is one object a line there.',
  },
  { say: 'Lists print one page of 50. --limit N prints N records, --all every one, --page and --per-page one page.' },
  {
    run: [
      'svc tickets list --status unresolved --fields id,subject,contact.email',
      'svc contacts list --all --output csv > contacts.csv',
      'svc contacts list --jq \'.[] | select(.company == "Acme") | .email\'',
    ],
  },
  {
    say:
      'Text that customers wrote is shown with control characters made visible. JSON stays exact; a ' +
      'number of more digits than a number of JSON can keep is a text there, with all of them.',
  },
]);

const ids = laidOut([
  {
    say:
      'Wherever the id of a ticket or a contact is taken, as an argument or after --contact, the name that people see is ' +
      'taken too: the number of the ticket, the email of the contact.',
  },
  {
    run: [
      'svc tickets get T-1008',
      'svc contacts get yara.kim@fieldnote.test',
      'svc lists add 1 --contact yara.kim@fieldnote.test',
      'svc contacts find yara',
    ],
  },
  {
    say:
      'The service looks numbers up itself. It has no search for emails, so svc reads every page of the contacts. Where ' +
      'nothing has that name: exit 3. Where several have it: exit 2, and the message names their ids. Elsewhere ids are ' +
      'numbers; on a terminal svc offers a list to choose from where an id is missing.',
  },
]);

const aliases = laidOut([
  {
    say:
      'Names of your own for commands that you type often. What you type behind the name is added at the end; a flag there takes the place of the ' +
      'same flag in the alias, and one that may be repeated adds to it.',
  },
  {
    run: [
      "svc alias set mine 'tickets list --status unresolved'",
      'svc mine --limit 5',
      'svc alias list',
      'svc alias delete mine',
    ],
  },
  {
    say:
      'A name never stands in place of a command of svc: such a name is refused, and where a later version brings a ' +
      'command of that name, the command wins. One alias may name another.',
  },
]);

const scripting = laidOut([
  { say: 'What a script may rely on:' },
  {
    points: [
      'Flags, exit codes and JSON shapes change only with a new major version.',
      'Nothing is asked in a pipe, with --no-input, or where CI is set: exit 2 names everything that is missing.',
      'An empty or blank value, as "$V" is where V is not set, is exit 2 and never means all or none. ' +
        'An optional text of a record may be empty: an update then empties the field. An empty value of svc config set unsets.',
      'Exit 9 means that a write may or may not have happened: look before you repeat it. After 1, 129, 130 and 143 the ' +
        'message says what is known: a full disk or a --jq that fails may come after the write, which then stays done. ' +
        'Every other code that is not 0 or 8 means that it did not happen.',
      'A write whose answer is lost is looked for, up to --settle seconds. It is not sent again while it may still arrive.',
      'Rate limits are waited out, up to --max-wait; one process that is told to wait tells the others.',
      'With --json the last line of standard error is ' +
        '{"error":{"kind","exit_code","status","message","hint","fields"}}; with exit 9 it has "looked_for_seconds" and "candidates" too, and where something was done before the error "done": true and "done_ids" (none of rows of a file).',
      'What is one value or one text, such as that of svc auth token, svc config get or svc audit head, is printed bare whatever svc config set output says; --json, -o and SVC_OUTPUT form it.',
      'No flag takes a secret: use SVC_API_KEY, or standard input.',
    ],
  },
  {
    run: [
      "svc tickets create --subject 'Nightly job failed' --description 'See the log.' --jq .id",
      'svc contacts sync export.csv --rejects rejects.csv --json || echo "exit code $?"',
    ],
  },
  { say: 'To try a script against a service on this machine:' },
  { run: ['svc sandbox exec -- ./my-script.sh'] },
]);

const ofTopics = laidOut([
  { rows: topics.filter(({ name }) => name !== 'topics').map(({ name, summary }): Row => [name, summary]) },
  { say: 'To read one: svc help TOPIC. Help for a command: svc <command> --help' },
]);

/** What `svc help TOPIC` prints, for a screen of so many columns. */
export const topicTexts: Readonly<Record<TopicName, (columns?: number) => string>> = {
  topics: ofTopics,
  commands,
  flags,
  environment,
  'exit-codes': exits,
  output,
  ids,
  sends: holding,
  serve: serving,
  aliases,
  scripting,
};
