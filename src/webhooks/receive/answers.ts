import type { IncomingMessage, ServerResponse } from 'node:http';

export function answer(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  response.writeHead(status, headers).end();
}

/** Without an answer it counts as a failed connection and comes again (service.md#delivery-2). */
export function cut(response: ServerResponse): void {
  response.socket?.destroy();
}

/** Answers while the sender is still sending: closing at once would reset the connection and lose the answer. */
export function tooLarge(request: IncomingMessage): void {
  const { socket } = request;
  request.resume();
  socket.end('HTTP/1.1 413 Payload Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  setTimeout(() => socket.destroy(), 1_000).unref();
}
