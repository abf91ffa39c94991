import { addressNumber, addressText } from './address.ts';
import type { StaticRoute } from './network.ts';

/** Classless static routes: mask in bits, the bytes of the network that it covers, the router (RFC 3442). */
export function encodeRoutes(routes: readonly StaticRoute[]): Buffer {
  return Buffer.concat(routes.map(encodeRoute));
}

function encodeRoute({ to, via }: StaticRoute): Buffer {
  const significant = Math.ceil(to.prefixLength / 8);
  return Buffer.concat([
    Buffer.from([to.prefixLength]),
    addressBytes(to.address).subarray(0, significant),
    addressBytes(via),
  ]);
}

/** The routes; undefined when one runs past the end or has a mask of more than 32 bits. */
export function decodeRoutes(bytes: Buffer): StaticRoute[] | undefined {
  const routes: StaticRoute[] = [];
  for (let at = 0; at < bytes.length; ) {
    const prefixLength = bytes[at] ?? 0;
    const router = at + 1 + Math.ceil(prefixLength / 8);
    if (prefixLength > 32 || router + 4 > bytes.length) return undefined;
    const network = Buffer.alloc(4);
    bytes.copy(network, 0, at + 1, router);
    const address = addressText(network.readUInt32BE());
    routes.push({ to: { address, prefixLength }, via: addressText(bytes.readUInt32BE(router)) });
    at = router + 4;
  }
  return routes;
}

function addressBytes(address: string): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(addressNumber(address));
  return bytes;
}
