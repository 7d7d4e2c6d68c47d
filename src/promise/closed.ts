import type { Server } from 'node:http';

/** Cuts every connection and gives the port back. */
export const closedNow = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
