import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** The discard port, by custom: nobody listens there, and no boot server is disturbed. */
const wakePort = 9;

/** What wakes a machine: six bytes of ones, then its hardware address sixteen times (AMD, Magic Packet Technology, publication 20213). */
export function magicPacket(mac: string): Buffer {
  const address = Buffer.from(mac.replaceAll(':', ''), 'hex');
  return Buffer.concat([Buffer.alloc(6, 0xff), ...Array.from({ length: 16 }, () => address)]);
}

/** Where magic packets go out: from an own address to the broadcast address of its network. */
export interface WakeNetwork {
  address: string;
  broadcast: string;
}

/** The last address of a network, e.g. of 10.77.0.1/24. */
export function broadcastOf(address: string, prefixLength: number): string {
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const last = (number | (2 ** (32 - prefixLength) - 1)) >>> 0;
  return [24, 16, 8, 0].map((shift) => (last >>> shift) & 0xff).join('.');
}

/** Sends three packets per address on each network, since nothing answers; needs no privilege. */
export async function sendMagicPackets(
  macs: readonly string[],
  networks: readonly WakeNetwork[],
  port = wakePort,
): Promise<void> {
  for (const { address, broadcast } of networks) {
    const socket = createSocket('udp4');
    try {
      socket.bind(0, address);
      await once(socket, 'listening');
      socket.setBroadcast(true);
      for (const mac of macs)
        for (let times = 0; times < 3; times++) await sent(socket, magicPacket(mac), port, broadcast);
    } finally {
      socket.close();
    }
  }
}

function sent(
  socket: ReturnType<typeof createSocket>,
  packet: Buffer,
  port: number,
  to: string,
): Promise<void> {
  return new Promise((resolve, reject) =>
    socket.send(packet, port, to, (error) => (error === null ? resolve() : reject(error))),
  );
}
