import type { Server, ServerOptions } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { Closable } from '#base/shutdown.ts';
import { addRoutes, type Route } from '#doors/routes.ts';
import { modernTls } from '#doors/tls.ts';
import type { Identity } from '../../join/identity.ts';
import { createSiteDoor, type Door, listen } from '../http/door.ts';
import { watchDeadlines } from './deadlines.ts';
import { noteMachine } from './note.ts';
import type { MachineParts } from './parts.ts';
import { endRevokedSessions, refuseRevokedPeer } from './revoked.ts';
import { machineRoutes } from './routes.ts';

/** Bytes of a body: a report carries up to a hundred results. */
const bodyLimit = 256 * 1024;

/** The door for ramdisks: TLS with the site's certificate. Whom the centre has revoked is refused at every route. */
function createMachineDoor(parts: MachineParts): Door {
  const door = createSiteDoor({ log: parts.log, tls: tlsOf(parts.kept.current), bodyLimit });
  addRoutes(
    door,
    machineRoutes(parts).map((row) => barred(row, parts)),
  );
  noteRefusedTls(door, parts);
  return door;
}

/** A ramdisk that does not take our certificate says so in TLS alone: most often its clock is wrong, or its image is of another centre. */
function noteRefusedTls({ server }: Door, parts: MachineParts): void {
  server.on('tlsClientError', (error: NodeJS.ErrnoException, { remoteAddress = '' }: TLSSocket) => {
    const reason = error.code ?? 'unknown';
    // Port scans and connections that were given up are no refusals.
    if (!/CERT|UNKNOWN_CA/.test(reason)) return;
    const peer = remoteAddress.replace(/^::ffff:/, '');
    noteMachine(peer, `the ramdisk refuses our TLS (${reason})`, { step: 'tls-refused', reason }, parts);
  });
}

function barred(row: Route, parts: MachineParts): Route {
  const admit: Route['admit'] = (request) => {
    refuseRevokedPeer(request.raw.socket as TLSSocket, parts);
    return row.admit(request);
  };
  return { ...row, admit };
}

/** A client certificate is looked at when there is one: ramdisks have none. */
function tlsOf({ certificate, privateKey, ca }: Identity): ServerOptions {
  return {
    ...modernTls,
    cert: certificate,
    key: privateKey,
    ca,
    requestCert: true,
    rejectUnauthorized: false,
  };
}

/** Opens the door for ramdisks at each of `places` (`address:port`). It follows the site's renewals. */
export async function openMachineListener(places: readonly string[], parts: MachineParts): Promise<Closable> {
  const { kept, revocations, state, machines } = parts;
  const endRevoked = () => endRevokedSessions(revocations, state, machines);
  // The list may have been written and this agent killed before it could act by it.
  endRevoked();
  const doors = await openDoors(places, parts);
  const deadlines = watchDeadlines(parts);
  revocations.onChange(endRevoked);
  const forget = kept.onChange((identity) => {
    for (const { server } of doors) (server as unknown as Server).setSecureContext(tlsOf(identity));
    // Machines hear of the centre's keys.
    machines.wake();
  });
  return {
    close: async () => {
      forget();
      deadlines.close();
      await Promise.all(doors.map((door) => door.close()));
    },
  };
}

async function openDoors(places: readonly string[], parts: MachineParts): Promise<Door[]> {
  const doors: Door[] = [];
  try {
    for (const place of places) {
      const door = createMachineDoor(parts);
      doors.push(door);
      await listen(door, place, 'machine.listen');
    }
  } catch (error) {
    await Promise.all(doors.map((door) => door.close()));
    throw error;
  }
  return doors;
}
