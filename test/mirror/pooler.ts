import { once } from 'node:events';
import { createServer, connect as dial, type Socket } from 'node:net';

type Session = { readonly socket: Socket; user: Client | undefined; isFree: boolean };
type Client = { readonly socket: Socket; session: Session | undefined; waiting: Buffer[]; pending: number };

/** The messages that have come whole. Of all but the first of a client, one letter says of which kind it is. */
function messages(take: (message: Buffer) => void, hasLetter = () => true) {
  let rest: Buffer = Buffer.alloc(0);
  return (data: Buffer) => {
    rest = Buffer.concat([rest, data]);
    for (;;) {
      const from = hasLetter() ? 1 : 0;
      if (rest.length < from + 4) return;
      const length = rest.readInt32BE(from) + from;
      if (rest.length < length) return;
      const message = rest.subarray(0, length);
      rest = rest.subarray(length);
      take(message);
    }
  };
}

const readyForQuery = 'Z';
const isAtRest = (message: Buffer) => message[5] === 'I'.charCodeAt(0);
const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

/**
 * What PgBouncer does with `pool_mode=transaction`: a few sessions of the server, each lent for one transaction. The session that
 * was given back longest ago is lent first, so no two transactions in a row have the same.
 */
export async function startPooler(socketPath: string, count = 3) {
  const sessions: Session[] = [];
  const queue: Client[] = [];
  const open: Socket[] = [];
  const greeting: Buffer[] = [];
  let startup: Buffer | undefined;

  const lend = (): void => {
    for (let at = sessions.findIndex(({ isFree }) => isFree); at >= 0; at = sessions.findIndex((one) => one.isFree)) {
      const client = queue.shift();
      if (!client) return;
      const [session] = sessions.splice(at, 1);
      if (!session) return;
      sessions.push(session);
      session.isFree = false;
      session.user = client;
      client.session = session;
      pass(client);
    }
  };
  const pass = (client: Client): void => {
    const all = client.waiting.splice(0);
    for (const message of all) {
      // A query, and the end of a group of messages, are answered with one ReadyForQuery.
      if ('QS'.includes(String.fromCharCode(message[0] ?? 0))) client.pending++;
    }
    client.session?.socket.write(Buffer.concat(all));
  };
  const newSession = async (first: Buffer, greet: (message: Buffer) => void): Promise<void> => {
    const socket = dial(socketPath).on('error', () => {});
    open.push(socket);
    const session: Session = { socket, user: undefined, isFree: false };
    let isUp = false;
    const up = new Promise<void>((done) => {
      socket.on(
        'data',
        messages((message) => {
          const kind = String.fromCharCode(message[0] ?? 0);
          if (!isUp) {
            if (kind !== readyForQuery) return greet(message);
            isUp = true;
            return done();
          }
          const { user } = session;
          user?.socket.write(Buffer.from(message));
          if (kind !== readyForQuery || !user || --user.pending > 0 || !isAtRest(message)) return;
          user.session = undefined;
          session.user = undefined;
          session.isFree = true;
          lend();
        }),
      );
    });
    socket.write(first);
    await up;
    session.isFree = true;
    sessions.push(session);
  };

  const server = createServer({ noDelay: true }, (socket) => {
    open.push(socket);
    const client: Client = { socket, session: undefined, waiting: [], pending: 0 };
    let started: Promise<void> | undefined;
    const begin = async (first: Buffer) => {
      startup = first;
      while (sessions.length < count) await newSession(first, (message) => void greeting.push(Buffer.from(message)));
      // What one session said at its beginning is said to every client: that the login is fine, and settings.
      // The number of a session is the pooler's own, as PgBouncer does it.
      for (const message of greeting) if (message[0] === 'K'.charCodeAt(0)) message.writeInt32BE(1, 5);
      const end = greeting.findIndex((message, at) => at > 0 && message[0] === greeting[0]?.[0]);
      socket.write(Buffer.concat([...greeting.slice(0, end < 0 ? undefined : end), ready]));
    };
    socket.on(
      'data',
      messages(
        (message) => {
          if (!started) {
            started = begin(Buffer.from(message));
            return;
          }
          if (message[0] === 'X'.charCodeAt(0)) return void socket.end();
          client.waiting.push(Buffer.from(message));
          if (client.session) return pass(client);
          if (!queue.includes(client)) queue.push(client);
          lend();
        },
        () => started !== undefined,
      ),
    );
    socket.on('error', () => {});
    socket.on('close', () => {
      // As PgBouncer does: a session in the middle of a transaction is ended.
      const { session } = client;
      if (!session) return;
      sessions.splice(sessions.indexOf(session), 1);
      session.socket.destroy();
      if (startup) void newSession(startup, () => {}).then(lend);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as { port: number }).port,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
