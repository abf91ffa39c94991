import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import type { Server } from 'node:net';

/** Listens on a Unix socket, in place of one that a killed process left. */
export async function listenOnPath(server: Server, file: string): Promise<void> {
  await rm(file, { force: true });
  server.listen(file);
  await once(server, 'listening');
}
