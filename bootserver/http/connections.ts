import type { Server } from 'node:http';
import type { Log } from '#base/log.ts';

/** Of all clients together: what a site's file descriptors bear. */
const maxConnections = 1024;

/**
 * Keeps one client from taking the connections that all share: one with more than `perClient` open has each further one
 * closed at once. A machine that boots has one or two.
 */
export function limitConnections(server: Server, perClient: number, log: Log): void {
  server.maxConnections = maxConnections;
  const open = new Map<string, number>();
  const told = new Set<string>();
  server.on('connection', (socket) => {
    const client = socket.remoteAddress ?? '';
    const count = open.get(client) ?? 0;
    if (count >= perClient) {
      if (!told.has(client))
        log.warn({ from: client, perClient }, 'boot HTTP: too many connections of one client');
      told.add(client);
      socket.destroy();
      return;
    }
    open.set(client, count + 1);
    socket.once('close', () => {
      const left = (open.get(client) ?? 1) - 1;
      if (left > 0) {
        open.set(client, left);
        return;
      }
      open.delete(client);
      told.delete(client);
    });
  });
}
