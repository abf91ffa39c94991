import type { Server, ServerOptions } from 'node:https';
import { createDoor, type Door } from '#doors/door.ts';
import { addRoutes } from '#doors/routes.ts';
import { modernTls } from '#doors/tls.ts';
import type { CentralContext } from '../context.ts';
import { issueServer, shownChain } from '../join/authority.ts';
import { acceptedAuthorities } from '../join/trust.ts';
import { agentsRoutes } from './routes.ts';

/** Bytes of a body; reports may have more. A poll names every operation that its agent has taken. */
const bodyLimit = 1024 * 1024;
/** Sites and nodes may stand behind one address; those that have joined do not count for it. */
const connections = { perClient: 1024, total: 20_000 };
const serverValidMs = 90 * 24 * 3_600_000;
/** The server's certificate is made anew at every start and well before it ends. */
const certificateRenewalMs = 24 * 3_600_000;

/**
 * The agents' door: TLS by a certificate of the centre's CA for `names`. Joining needs a token; `/v1/agent/*` needs the
 * client certificate that the join gave. Everything else is denied. `stop` ends the long polls.
 */
export async function openAgentsServer(
  context: CentralContext,
  names: readonly string[],
  stop: AbortSignal,
): Promise<Door> {
  const { log, rates } = context;
  const tls = await serverTls(context, names);
  const door = createDoor({ log, tls, bodyLimit, rate: rates.agentsAddress, connections });
  renewDaily(context, door, names, stop);
  addRoutes(door, agentsRoutes(context, rates.agent, stop));
  return door;
}

async function serverTls({ keys }: CentralContext, names: readonly string[]): Promise<ServerOptions> {
  const uri = 'urn:railhead:central';
  const issued = await issueServer(keys.authority, { uri, names, validMs: serverValidMs });
  return {
    ...modernTls,
    key: issued.privateKey,
    cert: shownChain(keys.authority, issued),
    ca: acceptedAuthorities(keys),
    requestCert: true,
    // A joining agent has no certificate yet: each route says what it needs.
    rejectUnauthorized: false,
  };
}

/** A new certificate for the running server, by the newest CA; connections that there are stay. */
export async function renewServerTls(
  context: CentralContext,
  door: Door,
  names: readonly string[],
): Promise<void> {
  (door.server as unknown as Server).setSecureContext(await serverTls(context, names));
}

function renewDaily(context: CentralContext, door: Door, names: readonly string[], stop: AbortSignal): void {
  const timer = setInterval(() => {
    renewServerTls(context, door, names).catch((error) =>
      context.log.error({ err: error }, 'the server certificate was not renewed'),
    );
  }, certificateRenewalMs).unref();
  stop.addEventListener('abort', () => clearInterval(timer));
}
