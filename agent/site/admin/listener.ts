import { rm } from 'node:fs/promises';
import type { Closable } from '#base/shutdown.ts';
import { anyone } from '#doors/routes.ts';
import { listen } from '../http/door.ts';
import { type AdminParts, createAdminDoor, createLocalDoor } from './routes.ts';

/** The admin listener, for the management network. */
export async function openAdminListener(where: string, parts: AdminParts): Promise<Closable> {
  const door = createAdminDoor(parts, anyone);
  await listen(door, where, 'admin.listen');
  return { close: async () => void (await door.close()) };
}

/** The same routes, and those that change the cache, for root and the agent's own user. */
export async function openLocalSocket(path: string, parts: AdminParts): Promise<Closable> {
  const door = createLocalDoor(parts);
  // Left by a killed agent; the lock of the state directory says that no other one runs.
  await rm(path, { force: true });
  // Nobody else may open it, not even for the moment between its making and a chmod.
  const before = process.umask(0o177);
  try {
    await listen(door, path, 'admin.socket');
  } finally {
    process.umask(before);
  }
  return { close: async () => void (await door.close()) };
}
