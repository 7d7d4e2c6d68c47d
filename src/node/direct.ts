import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { Socket } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import type { HttpRequest } from '../context.ts';
import { codeOf } from '../errors.ts';
import { type Line, type Lines, lines, turns } from './lines.ts';
import { connectTimeoutMs, type Flight, headersOf, isRead, pieces, type RawAnswer, type Sending } from './sending.ts';

/**
 * Straight to the service, by Node's own client: it starts in a third of the time that undici takes, whose parser is
 * WebAssembly and compiled again in every process.
 */
export function direct(): Sending {
  const origins = new Map<string, Lines>();
  return async (asked, flight) => {
    const url = new URL(asked.url);
    const http = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http');
    const known = origins.get(url.origin);
    const pool = known ?? lines((timeout) => new http.Agent({ keepAlive: true, maxSockets: 1, timeout }));
    if (!known) origins.set(url.origin, pool);
    const line = await pool.take(isRead(asked) ? 'read' : 'write');
    const { raw, sent } = await answerOver(line, url, asked, flight);
    // Of an answer that came before the request was sent whole, the connection is not free for another.
    if (sent.writableFinished) pool.giveBack(line, { reused: sent.reusedSocket });
    return raw;
  };
}

function answerOver({ agent }: Line, url: URL, asked: HttpRequest, flight: Flight) {
  return new Promise<{ readonly raw: RawAnswer; readonly sent: ClientRequest }>((resolve, reject) => {
    if (flight.stopped) return reject(flight.stopped);
    const secure = url.protocol === 'https:';
    const { request } = process.getBuiltinModule(secure ? 'node:https' : 'node:http');
    const headers = headersOf(asked);
    let answered: IncomingMessage | undefined;
    const leaves = () => {
      flight.left = true;
    };
    const sent = request({ ...targetOf(url), method: asked.method, headers, agent }, (answer) => {
      answered = answer;
      read(answer, flight, { resolve: (raw) => resolve({ raw, sent }), reject });
    });
    flight.stop = (error) => sent.destroy(error);
    sent.once('socket', (socket) => {
      if (!isOpening(socket)) return leaves();
      const timer = setTimeout(() => void giveUp(), connectTimeoutMs);
      socket.once('close', () => clearTimeout(timer));
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        clearTimeout(timer);
        leaves();
      });
      async function giveUp() {
        await turns();
        if (isOpening(socket)) socket.destroy(tooLate());
      }
    });
    // Not `once`: a second error would have no listener, and end the process. What follows a whole answer is none of it:
    // a 204 that some servers send with a body has a head alone, and Node takes that body for the start of another one.
    sent.on('error', (error) => answered?.complete || reject(error));
    // A peer that switches protocols is dropped by Node without an error.
    sent.once('close', () => answered || reject(new Error('closed without an answer')));
    sent.end(asked.body);
  });
}

/** What Node makes of a URL by itself, in half the time. */
function targetOf(url: URL): RequestOptions {
  if (url.username !== '' || url.password !== '') return urlToHttpOptions(url);
  const { protocol, hostname, port, pathname, search } = url;
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return { protocol, hostname: host, port, path: pathname + search };
}

/** A connection that was used before is open; a new one is not until its handshake is over. */
const isOpening = (socket: Socket): boolean =>
  // Node has the second since 11.4; its types do not.
  socket.connecting || ('secureConnecting' in socket && socket.secureConnecting === true);

const tooLate = (): Error => Object.assign(new Error('no connection in time'), { code: 'SVC_CONNECT_TIMEOUT' });

type Ends = { readonly resolve: (raw: RawAnswer) => void; readonly reject: (error: unknown) => void };

/** By events: a loop over the body costs as much as all else that svc does with a short answer. */
function read(answer: IncomingMessage, flight: Flight, { resolve, reject }: Ends): void {
  const body = pieces();
  answer.on('data', (piece: Buffer) => {
    flight.came = (flight.came ?? 0) + piece.length;
    try {
      body.take(piece);
    } catch (error) {
      reject(error);
      answer.destroy();
    }
  });
  answer.once('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: body.whole() }));
  // Not `once`: what comes after the body was given up must not end the process.
  answer.on('error', (error) => {
    // Node says of a body that ends early what it says of a connection that breaks.
    reject(codeOf(error) === 'ECONNRESET' ? cutShort(error) : error);
  });
  answer.once('close', () => {
    // A promise that is settled takes no second end: the error is made only where there was none.
    if (!answer.readableEnded) reject(cutShort(new Error('closed before its end')));
  });
}

const cutShort = (error: Error): Error => Object.assign(error, { code: 'SVC_CUT' });
