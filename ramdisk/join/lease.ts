import { isIPv4 } from 'node:net';
import { canonicalIpv6 } from '#base/ipv6Address.ts';
import { canonicalMac } from '#contract/bootEntry.ts';
import { siteDiscovery } from '#contract/siteDiscovery.ts';
import { httpsOrigin } from './commandLine.ts';

/** What the ramdisk's own DHCP lease says. */
export interface Lease {
  mac?: string;
  /** The address that it gave. */
  address?: string;
  /** Base URL of the site's machine listener, from our vendor option. */
  site?: string;
}

/**
 * Reads the lease file that `/init` leaves: lines `name=value`, where `mac` and `ip` are the interface's addresses and `site` the text of our
 * vendor option (or `opt224`, the same in hex as udhcpc passes it on). Never throws.
 */
export function readLease(text: string): Lease {
  const fields = new Map(
    text.split('\n').map((line) => {
      const equals = line.indexOf('=');
      return [line.slice(0, Math.max(0, equals)).trim(), unquoted(line.slice(equals + 1).trim())] as const;
    }),
  );
  const mac = canonicalMac(fields.get('mac') ?? '');
  const site =
    httpsOrigin(fields.get('site')) ?? httpsOrigin(urlInHex(fields.get(`opt${siteDiscovery.optionNumber}`)));
  const address = canonicalAddress(fields.get('ip') ?? '');
  return {
    ...(mac !== undefined && { mac }),
    ...(address !== undefined && { address }),
    ...(site !== undefined && { site }),
  };
}

/** udhcpc6 writes all digits of an address. */
function canonicalAddress(text: string): string | undefined {
  return isIPv4(text) ? text : canonicalIpv6(text);
}

function unquoted(text: string): string {
  return /^'.*'$|^".*"$/.test(text) ? text.slice(1, -1) : text;
}

function urlInHex(hex: string | undefined): string | undefined {
  if (hex === undefined) return undefined;
  const text = Buffer.from(hex.replaceAll(':', ''), 'hex').toString('latin1');
  return /https:\/\/[\x21-\x7e]+/.exec(text)?.[0];
}
