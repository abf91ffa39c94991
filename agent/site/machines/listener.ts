import type { Closable } from '#base/shutdown.ts';
import { addRoutes } from '#doors/routes.ts';
import type { Identity } from '../../join/identity.ts';
import { createSiteDoor, type Door, listen } from '../http/door.ts';
import { watchDeadlines } from './deadlines.ts';
import type { MachineParts } from './parts.ts';
import { machineRoutes } from './routes.ts';

/** Bytes of a body: a report carries up to a hundred results. */
const bodyLimit = 256 * 1024;

/** The door for ramdisks: TLS with the site's certificate. */
export function createMachineDoor(
  { certificate, privateKey }: Pick<Identity, 'certificate' | 'privateKey'>,
  parts: MachineParts,
): Door {
  const door = createSiteDoor({ log: parts.log, tls: { cert: certificate, key: privateKey }, bodyLimit });
  addRoutes(door, machineRoutes(parts));
  return door;
}

/** Opens the door for ramdisks on `where` (`address:port`). */
export async function openMachineListener(
  where: string,
  identity: Identity,
  parts: MachineParts,
): Promise<Closable> {
  const door = createMachineDoor(identity, parts);
  await listen(door, where, 'machine.listen');
  const deadlines = watchDeadlines(parts);
  return {
    close: async () => {
      deadlines.close();
      await door.close();
    },
  };
}
