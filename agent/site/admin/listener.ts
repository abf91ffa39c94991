import { chmod, rm } from 'node:fs/promises';
import type { Closable } from '#base/shutdown.ts';
import { listen } from '../http/door.ts';
import { type AdminParts, createAdminDoor } from './routes.ts';

/** The admin listener, for the management network. */
export async function openAdminListener(where: string, parts: AdminParts): Promise<Closable> {
  const door = createAdminDoor(parts);
  await listen(door, where, 'admin.listen');
  return { close: async () => void (await door.close()) };
}

/** The same routes for whoever may open `path`: the agent's own user and group. */
export async function openLocalSocket(path: string, parts: AdminParts): Promise<Closable> {
  const door = createAdminDoor(parts);
  // Left by a killed agent; the lock of the state directory says that no other one runs.
  await rm(path, { force: true });
  await listen(door, path, 'admin.socket');
  await chmod(path, 0o660);
  return { close: async () => void (await door.close()) };
}
