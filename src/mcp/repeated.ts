import { ErrorCode, McpError, type RequestId } from '@modelcontextprotocol/sdk/types.js';
import { hexDigestOf } from '../text/digest.ts';
import type { Answer } from './answer.ts';

/** What was asked stays known for the whole session, the answers of so many calls do. */
const mostAnswers = 200;

type Asked = { readonly digest: string; answer: Promise<Answer> | undefined };

/**
 * The calls of one session that write, by their ids: MCP lets no id be used twice, so one that comes again is a retry.
 * `clientNow`: another object after each `initialize`, with which a client may count from the beginning.
 */
export function callsOfSession(clientNow: () => unknown) {
  const calls = new Map<RequestId, Asked>();
  let answered: Asked[] = [];
  let client: unknown;
  return {
    /** The answer of the call that had this id first. Throws where that was another one. */
    before(id: RequestId, call: unknown) {
      if (client !== clientNow()) {
        calls.clear();
        answered = [];
      }
      client = clientNow();
      const asked = calls.get(id);
      if (!asked) return undefined;
      const told = `The id ${JSON.stringify(id)} was used for`;
      if (asked.digest !== digestOf(call))
        throw new McpError(ErrorCode.InvalidRequest, `${told} another call in this session. This one was not done.`);
      if (!asked.answer)
        throw new McpError(ErrorCode.InvalidRequest, `${told} this call long ago. It was not done again.`);
      return asked.answer;
    },
    /** A call that may change something. */
    note(id: RequestId, call: unknown, answer: Promise<Answer>) {
      const asked: Asked = { digest: digestOf(call), answer };
      calls.set(id, asked);
      answered.push(asked);
      const oldest = answered.length > mostAnswers ? answered.shift() : undefined;
      if (oldest) oldest.answer = undefined;
    },
  };
}

const digestOf = (call: unknown): string => hexDigestOf(JSON.stringify(call));
