import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Log } from '#base/log.ts';
import { clientKey } from './clientKey.ts';

export interface ConnectionLimits {
  /** Open connections of one client; each further one is closed at once. */
  perClient: number;
  /** Of all clients together: what the process's file descriptors bear. */
  total: number;
}

/**
 * Keeps one client from taking the connections that all share. On a TLS server those whose client certificate holds do not count as
 * their client's: many sites may stand behind one address.
 */
export function limitConnections(server: Server, { perClient, total }: ConnectionLimits, log: Log): void {
  server.maxConnections = total;
  const open = new Counts();
  const known = new Counts();
  const told = new Set<string>();
  server.on('connection', (socket: Socket) => {
    const client = clientKey(socket.remoteAddress);
    if (open.of(client) - known.of(client) >= perClient) {
      if (!told.has(client)) log.warn({ from: client, perClient }, 'too many connections of one client');
      told.add(client);
      socket.destroy();
      return;
    }
    open.hold(client, socket, () => told.delete(client));
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.authorized) known.hold(clientKey(socket.remoteAddress), socket);
  });
}

/** Open connections by client. */
class Counts {
  readonly #counts = new Map<string, number>();

  of(client: string): number {
    return this.#counts.get(client) ?? 0;
  }

  /** Counts a connection until it closes; `onLast` is called when it was the client's last. */
  hold(client: string, socket: Socket, onLast: () => void = () => {}): void {
    this.#counts.set(client, this.of(client) + 1);
    socket.once('close', () => {
      const left = this.of(client) - 1;
      if (left > 0) {
        this.#counts.set(client, left);
        return;
      }
      this.#counts.delete(client);
      onLast();
    });
  }
}
