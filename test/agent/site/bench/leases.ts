import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect } from 'vitest';
import { leaseByDhcp } from '../../../fakes/leaseByDhcp.ts';
import type { LoopbackSite } from './loopbackSite.ts';

/** An address of the site's pool. */
export const leasedAddress = '127.77.0.10';

/** Leases an address to a machine; the site runs. */
export function leaseTo(site: LoopbackSite, mac: string, address = leasedAddress, htype = 1): Promise<void> {
  const { stateDirectory, config } = site;
  return leaseByDhcp({ stateDirectory, dhcpPort: config.boot.dhcpPort }, mac, address, htype);
}

/** The machine's firmware starts to boot from the network: resolves once the site has answered its DISCOVER. */
export async function discover(site: LoopbackSite, mac: string): Promise<void> {
  const before = (await dhcpEvents(site, mac)).length;
  const socket = createSocket('udp4');
  socket.send(discoverMessage(mac), site.config.boot.dhcpPort, '127.0.0.1');
  await expect
    .poll(async () => (await dhcpEvents(site, mac)).length, { timeout: 5000 })
    .toBeGreaterThan(before);
  const closed = once(socket, 'close');
  socket.close();
  await closed;
}

async function dhcpEvents({ adminUrl }: LoopbackSite, mac: string): Promise<unknown[]> {
  const answer = await fetch(`${adminUrl}/v1/machines/${mac}`);
  const { timeline } = (await answer.json()) as { timeline: { type: string }[] };
  return timeline.filter((event) => event.type === 'boot.dhcp');
}

/** A DHCPDISCOVER of UEFI firmware for x86-64 (RFC 2131 §3.1, RFC 4578 §2.1). */
function discoverMessage(mac: string): Buffer {
  const vendorClass = Buffer.from('PXEClient:Arch:00007:UNDI:003016');
  const options = Buffer.concat([
    Buffer.from([0x63, 0x82, 0x53, 0x63, 53, 1, 1, 93, 2, 0, 7, 60, vendorClass.length]),
    vendorClass,
    Buffer.from([255]),
  ]);
  const header = Buffer.alloc(236);
  header.set([1, 1, 6, 0]);
  header.writeUInt32BE(0x01020304, 4);
  Buffer.from(mac.replaceAll(':', ''), 'hex').copy(header, 28);
  return Buffer.concat([header, options]);
}
