import type { Server } from 'node:http';
import { Failure } from '../../errors.ts';

/** What comes from elsewhere comes through a tunnel or a proxy that the user chose. */
export const loopback = '127.0.0.1';

export function listen(server: Server, port: number, host = loopback): Promise<number> {
  return new Promise((resolve, reject) => {
    // Not `once`: an error while it accepts connections (no file left to open) must not end svc later on.
    server.on('error', (error: NodeJS.ErrnoException) => {
      reject(
        new Failure('failed', `Cannot listen on ${host}:${port}: ${portTrouble(error.code)}.`, {
          hint: 'Choose another with --port, or --port 0 for any free one.',
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

const portTrouble = (code = 'unknown'): string =>
  ({
    EADDRINUSE: 'the port is in use',
    EACCES: 'the port needs more rights',
    EADDRNOTAVAIL: 'this machine has no such address',
  })[code] ?? code;

/** For a short while, requests that were received in full still get their answer. */
export function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), 1_000).unref();
  });
}
