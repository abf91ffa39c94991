import { localAddressTo } from '#base/localAddress.ts';
import type { BootServer } from '#bootserver/bootServer.ts';

/** Where a BMC reaches the boot listener: URLs without a path, the one to try first at the front. */
export type MediaPlaces = (bmcAddress: string) => Promise<string[]>;

/**
 * The place that the configuration names, else the listeners of the network that the BMC is in, or of the main one: plain HTTP first, which
 * more BMCs take than the certificate of a CA that they do not know.
 */
export function mediaPlaces(
  mediaUrl: string | undefined,
  bootServer: Pick<BootServer, 'urlsAt'>,
): MediaPlaces {
  return async (bmcAddress) => {
    if (mediaUrl !== undefined) return [mediaUrl];
    const host = URL.parse(bmcAddress)?.hostname.replace(/^\[|\]$/g, '') ?? '';
    return bootServer.urlsAt(await localAddressTo(host));
  };
}
