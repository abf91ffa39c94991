import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';

interface RunningSite {
  stateDirectory: string;
  dhcpPort: number;
}

const messageType = { request: 3, release: 7 } as const;

/**
 * Has a site on the loopback interface lease an address of its pool to a machine, which renews it as it were (RFC 2131 §4.3.2): that is no
 * step of a boot. Another machine that has the address gives it back before. Resolves once the lease is in the site's file.
 * @param htype the hardware type that the machine says it is of; 1 is Ethernet
 */
export async function leaseByDhcp(site: RunningSite, mac: string, address: string, htype = 1): Promise<void> {
  const socket = createSocket('udp4');
  const client = `${htype}/${mac}`;
  try {
    const holder = holderOf(site, address);
    if (holder !== undefined && holder !== client) await send(socket, site, 'release', holder, address);
    await send(socket, site, 'request', client, address);
    await untilHolder(site, client, address);
  } finally {
    const closed = once(socket, 'close');
    socket.close();
    await closed;
  }
}

async function untilHolder(site: RunningSite, client: string, address: string): Promise<void> {
  for (let turn = 0; turn < 500; turn++) {
    if (holderOf(site, address) === client) return;
    await delay(10);
  }
  throw new Error(`${address} is leased to ${holderOf(site, address) ?? 'nobody'}, not to ${client}`);
}

/** Read by the same SQLite as the site's, which may be in this process. */
function holderOf({ stateDirectory }: RunningSite, address: string): string | undefined {
  const database = new DatabaseSync(path.join(stateDirectory, 'leases.db'), {
    readOnly: true,
    timeout: 5000,
  });
  try {
    const find = database.prepare("SELECT client FROM dhcp_lease WHERE address = ? AND state = 'bound'");
    return (find.get(address) as { client: string } | undefined)?.client;
  } finally {
    database.close();
  }
}

function send(
  socket: Socket,
  { dhcpPort }: RunningSite,
  type: keyof typeof messageType,
  client: string,
  address: string,
): Promise<void> {
  const [htype, mac = ''] = client.split('/');
  const octets = address.split('.').map(Number);
  const bytes = Buffer.alloc(300);
  bytes.set([1, Number(htype), 6]);
  bytes.set(octets, 12);
  Buffer.from(mac.replaceAll(':', ''), 'hex').copy(bytes, 28);
  bytes.set([0x63, 0x82, 0x53, 0x63, 53, 1, messageType[type], 255], 236);
  return new Promise((resolve, reject) =>
    socket.send(bytes, dhcpPort, '127.0.0.1', (error) => (error === null ? resolve() : reject(error))),
  );
}
