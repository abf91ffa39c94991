import { RailheadError } from '#contract/errors.ts';
import { RamdiskTokenAnswer } from '#contract/join.ts';
import { validate } from '#contract/validate.ts';
import type { BootHints } from './join/commandLine.ts';
import type { Lease } from './join/lease.ts';
import type { MachineFacts } from './join/machine.ts';
import type { SiteClient } from './site/client.ts';

/** Where the machine is to join, and as which interface. */
export interface SiteLocation {
  site: string;
  mac: string;
  /** Which of this machine's addresses is that interface's: a site lets a machine in from no other. */
  address?: string;
  /** Absent when the boot loader gave none: the site is asked for it. */
  token?: string;
}

/**
 * Which site this machine belongs to: the command line's word, else what its own DHCP lease said.
 * @throws RailheadError INVALID_STATE when neither names a site, or no hardware address is known
 */
export function locateSite(hints: BootHints, lease: Lease, facts: MachineFacts): SiteLocation {
  const site = hints.site ?? lease.site;
  const mac = ownMac(hints.mac, facts) ?? lease.mac ?? facts.macs[0];
  if (site === undefined)
    throw new RailheadError(
      'INVALID_STATE',
      'no site is named by railhead.site= on the command line nor by the DHCP lease: start the machine again from the site that is to serve it',
      { reason: 'no-site' },
    );
  if (mac === undefined)
    throw new RailheadError(
      'INVALID_STATE',
      'no Ethernet interface was found: the ramdisk lacks its driver',
      {
        reason: 'no-interface',
      },
    );
  return {
    site,
    mac,
    ...(lease.mac === mac && lease.address !== undefined && { address: lease.address }),
    ...(hints.token !== undefined && { token: hints.token }),
  };
}

/** Whoever answers DHCP writes the command line: it may choose among this machine's interfaces, not name another machine's. */
function ownMac(mac: string | undefined, { macs }: MachineFacts): string | undefined {
  return mac !== undefined && (macs.length === 0 || macs.includes(mac)) ? mac : undefined;
}

/**
 * Asks the site for the boot token of the entry that this machine has.
 * @throws RailheadError NOT_FOUND when it has none
 */
export async function requestToken(
  client: SiteClient,
  location: SiteLocation,
  uuid?: string,
): Promise<string> {
  const request = { mac: location.mac, ...(uuid !== undefined && { uuid }) };
  return validate(RamdiskTokenAnswer, await client.post('/v1/token', request), 'DRIVER_ERROR').token;
}
