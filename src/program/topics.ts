/** `svc help TOPIC`: what holds for every command. Their texts are loaded only where one is read. */
export const topics = [
  { name: 'topics', summary: 'Every topic, in a line', isListed: false },
  { name: 'commands', summary: 'Each group of commands', isListed: false },
  { name: 'flags', summary: 'Flags that every command takes', isListed: false },
  { name: 'environment', summary: 'Variables that svc reads', isListed: true },
  { name: 'exit-codes', summary: 'What each exit code means', isListed: true },
  { name: 'output', summary: 'Tables, JSON, CSV, fields and jq', isListed: true },
  { name: 'ids', summary: 'Ticket numbers and emails in place of ids', isListed: true },
  { name: 'sends', summary: 'Drafts, modes, rules: a person before every send', isListed: true },
  { name: 'serve', summary: 'The configuration of svc webhooks serve', isListed: true },
  { name: 'aliases', summary: 'Names of your own for commands', isListed: true },
  { name: 'scripting', summary: 'What scripts and CI may rely on', isListed: true },
] as const;

export type TopicName = (typeof topics)[number]['name'];
