import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { openFilesAtMost } from '../../disk/file/open-files.ts';
import { Failure } from '../../errors.ts';

/** What comes from elsewhere comes through a tunnel or a proxy that the user chose. */
export const loopback = '127.0.0.1';

export type Address = {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  readonly port: number;
  /** What to do where the port cannot be had, in the words of whoever chose it. */
  readonly hint: string;
};

/** Resolves to the port. Rejects with a Failure that says how another one is chosen. */
export function listen(server: Server, { host = loopback, port, hint }: Address): Promise<number> {
  return new Promise((resolve, reject) => {
    // Not `once`: an error while it accepts connections (no file left to open) must not end svc later on.
    server.on('error', (error: NodeJS.ErrnoException) => {
      reject(
        new Failure('failed', `Cannot listen on ${host}:${port}: ${portProblem(error.code)}.`, {
          hint,
          cause: error,
        }),
      );
    });
    server.listen(port, host, () => {
      const at = server.address();
      resolve(typeof at === 'object' && at ? at.port : port);
    });
  });
}

const portProblem = (code = 'unknown'): string =>
  ({
    EADDRINUSE: 'the port is in use',
    EACCES: 'the port needs more rights',
    EADDRNOTAVAIL: 'this machine has no such address',
  })[code] ?? code;

/** An IPv6 address stands in brackets. */
export const originOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Without the query. */
export const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';

/** For a short while, requests that were received in full still get their answer. */
export function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), 1_000).unref();
  });
}

export const defaultConnections = 512;

/**
 * Keeps at most so many connections: a new one takes the place of the one that has waited longest without a whole
 * request. So whoever connects and sends nothing takes no file from a sink's program, and keeps nobody out.
 */
export function bound(server: Server, most: () => number): void {
  const idle = new Set<Socket>();
  let open = 0;
  server.on('connection', (socket: Socket) => {
    open++;
    idle.add(socket);
    socket.on('close', () => {
      open--;
      idle.delete(socket);
    });
    const [longest = socket] = idle;
    if (open > most()) longest.destroy();
  });
  const begun = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const rest = () => {
      idle.delete(socket);
      if (!socket.destroyed) idle.add(socket);
    };
    rest();
    request.on('end', () => idle.delete(socket));
    response.on('close', rest);
  };
  server.on('request', begun);
  server.on('checkContinue', begun);
}

/** Half of the files that svc may still open, for the other half is the inbox's, the sinks' and their programs'. */
export function connectionsAtMost(wanted: number, files = openFilesAtMost()): number {
  return Math.min(wanted, Math.max(8, Math.floor((files - 64) / 2)));
}
