import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';

/** The address of this machine from which it would reach `host`, by the kernel's routes; nothing is sent. Undefined where there is no route. */
export async function localAddressTo(host: string): Promise<string | undefined> {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.connect(9, host, () => resolve());
    });
    return socket.address().address;
  } catch {
    return undefined;
  } finally {
    socket.close();
  }
}
