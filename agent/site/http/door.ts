import type { ServerOptions } from 'node:https';
import { systemCode } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { RailheadError } from '#contract/errors.ts';
import { createDoor, type Door } from '#doors/door.ts';
import { explained } from '../store/noSpace.ts';

export type { Door };

export interface SiteDoorOptions {
  log: Log;
  /** With it the door speaks TLS. */
  tls?: ServerOptions;
  oldestTls?: 'TLSv1.2';
  /** Bytes of a request's body; default 64 KiB. */
  bodyLimit?: number;
  /** A request may take as long as it takes, for one who brings gigabytes: only behind a door that is for those who own the agent. */
  patient?: boolean;
}

/** A machine or an operator's tool has a few connections and asks a few times a second; a thousand machines have a thousand addresses. */
const rate = { perSecond: 200, burst: 2000 };
const connections = { perClient: 128, total: 2048 };

/** A door of the site, not listening yet. */
export function createSiteDoor({ patient, bodyLimit = 64 * 1024, ...options }: SiteDoorOptions): Door {
  const times = patient === true ? { times: { requestTimeout: 0 } } : {};
  return createDoor({ ...options, bodyLimit, rate, connections, explain: explained, ...times });
}

/**
 * Begins to listen. `field` is the one of the configuration that says where.
 * @throws RailheadError INVALID_CONFIG when the place cannot be had
 */
export async function listen(door: Door, where: string, field: string): Promise<void> {
  try {
    await door.listen(where.startsWith('/') ? { path: where } : listenAddress(where));
  } catch (error) {
    const reason = systemCode(error) ?? 'unknown';
    const message = `${field}: cannot listen on ${where} (${reason}): choose another place, or end what holds it`;
    throw new RailheadError('INVALID_CONFIG', message, { path: field, reason }, error);
  }
}

/** The parts of `10.77.0.1:8443` or `[fe80::1]:8443`. */
function listenAddress(text: string): { host: string; port: number } {
  const colon = text.lastIndexOf(':');
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) };
}
