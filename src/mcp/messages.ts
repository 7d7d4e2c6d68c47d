import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  InitializeRequestSchema,
  type JSONRPCMessage,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { deepestJson } from '../retry/own-word.ts';
import { isDeeperThan } from '../text/json-depth.ts';
import { fieldsIn, isRecord } from '../text/record.ts';

/**
 * Looks at each request before the SDK does, which would answer a mistake in one with a dump of its schema: no arguments may
 * be written as null, and arguments of another kind get a sentence. To be called once the server is connected.
 */
export function checkedMessages(transport: Transport): void {
  const { onmessage } = transport;
  transport.onmessage = (message: JSONRPCMessage, extra) => {
    const checked = checkedMessage(message);
    if (typeof checked !== 'string') onmessage?.(checked, extra);
    else if ('id' in message && message.id !== undefined) {
      const error = { code: ErrorCode.InvalidParams, message: checked };
      void transport.send({ jsonrpc: '2.0', id: message.id, error }, { relatedRequestId: message.id });
    }
  };
}

type Request = Extract<JSONRPCMessage, { method: string }>;

/** The message as it goes on, or what is wrong with it. */
function checkedMessage(message: JSONRPCMessage): JSONRPCMessage | string {
  if (!('method' in message)) return message;
  const checked = message.method === 'tools/call' ? checkedCall(message) : message;
  return typeof checked === 'string' ? checked : (strangeIn(checked) ?? checked);
}

const schemas = [InitializeRequestSchema, ListToolsRequestSchema, CallToolRequestSchema];

/** The first of what is not as the protocol has it. */
function strangeIn(message: Request): string | undefined {
  const schema = schemas.find(({ shape }) => shape.method.value === message.method);
  const place = schema?.safeParse(message).error?.issues[0]?.path.join('.');
  if (place === undefined) return undefined;
  return `${message.method}: ${place} is missing, or not of the kind that the protocol asks for.`;
}

function checkedCall(message: Request): Request | string {
  const { name, arguments: input, ...rest } = fieldsIn(message.params);
  if (typeof name !== 'string') return 'A call needs the name of a tool, for example "listTickets".';
  if (input === null) return { ...message, params: { ...rest, name } };
  if (input !== undefined && !isRecord(input)) return 'The arguments must be an object, for example {"id": 7}.';
  if (isDeeperThan(deepestJson, input)) return `The arguments may be nested ${deepestJson} levels deep.`;
  return message;
}
