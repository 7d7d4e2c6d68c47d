import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { fieldsIn, isRecord } from '../text/record.ts';

/**
 * Looks at each call before the SDK does, which would answer a mistake in one with a dump of its schema: no arguments may
 * be written as null, and arguments of another kind get a sentence. To be called once the server is connected.
 */
export function checkedMessages(transport: Transport): void {
  const { onmessage } = transport;
  transport.onmessage = (message: JSONRPCMessage, extra) => {
    const checked = checkedCall(message);
    if (typeof checked !== 'string') onmessage?.(checked, extra);
    else if ('id' in message && message.id !== undefined) {
      const error = { code: ErrorCode.InvalidParams, message: checked };
      void transport.send({ jsonrpc: '2.0', id: message.id, error }, { relatedRequestId: message.id });
    }
  };
}

/** The message as it goes on, or what is wrong with it. */
function checkedCall(message: JSONRPCMessage): JSONRPCMessage | string {
  if (!('method' in message) || message.method !== 'tools/call') return message;
  const { name, arguments: input, ...rest } = fieldsIn(message.params);
  if (typeof name !== 'string') return 'A call needs the name of a tool, for example "listTickets".';
  if (input === null) return { ...message, params: { ...rest, name } };
  if (input !== undefined && !isRecord(input)) return 'The arguments must be an object, for example {"id": 7}.';
  return message;
}
