import { type Command, operationOf } from '../command/command.ts';
import { withOwnExample } from '../disk/place/own-example.ts';
import { commandLine, message } from '../text/layout.ts';

type Needing = Pick<Command, 'needs' | 'operation' | 'row'>;

/** What the examples of a command need that neither an API key nor the sandbox gives; undefined where that is enough. */
export function needsOf(command: Needing): string | undefined {
  const { needs } = command;
  const operation = operationOf(command);
  const takesKey = operation === undefined || operation.credentials.includes('api_key');
  if (needs !== undefined || takesKey) return needs;
  return operation.credentials.includes('oauth')
    ? 'an OAuth login, and SVC_API_KEY unset: svc login'
    : 'a machine-to-machine token: svc login --with-m2m-token';
}

/** The examples for the help. What they need stands at the end of a line, so that it can be typed. */
export function examplesText(command: Needing & Pick<Command, 'examples'>, width: number): string {
  const needs = needsOf(command);
  const lines = ['Examples:', ...command.examples.map((line) => commandLine(withOwnExample(line), width))];
  return [...lines, ...(needs === undefined ? [] : ['', message(`The examples need ${needs}`, width)])].join('\n');
}
