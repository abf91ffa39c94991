import type { BootClass } from '#contract/bootQuirks.ts';

/** How a reply says what to boot. The file itself is another matter. */
export interface ReplyShape {
  /** Option 60. */
  vendorClass?: 'PXEClient' | 'HTTPClient';
  /** 43.6 = 8: load the named file and ask nobody else. */
  discoveryControl?: boolean;
  /** 43.9 and 43.10 as a Raspberry Pi looks for them. */
  raspberryPiMenu?: boolean;
  /** Option 66. */
  serverName?: boolean;
  /** The boot file in the header field alone, without option 67. */
  headerOnly?: boolean;
  /** Options 66 and 67 end with a NUL. */
  nulTerminated?: boolean;
  /** The client's boot item (43.71) is left out of the answer. */
  noBootItem?: boolean;
}

/** Beside whom we answer: `full` gives the address too; `proxy` is the second server, on port 67 or 4011. */
export type ReplyRole = 'full' | 'proxy';

const pxe = { vendorClass: 'PXEClient' } as const;
const http = { vendorClass: 'HTTPClient' } as const;
const raspberryPi = { ...pxe, discoveryControl: true, raspberryPiMenu: true, serverName: true } as const;

/**
 * One shape for each class of client and role, before quirks.
 *
 * A full offer does not name PXEClient: with it and without 43.6 the firmware would ask port 4011 (tianocore/edk2 issue 8149). An offer
 * beside another server's must name it, or it is no PXE offer (siderolabs/sidero issue 1212). BIOS ROMs are told to load the
 * file at once; UEFI firmware in the field drops a second offer that has option 43 (tianocore/edk2 issue 6944), so it gets none, and
 * then asks port 4011. UEFI takes an HTTP offer only with its class echoed (UEFI 2.10 §24.7.3.1).
 */
export const replyShapes: Record<BootClass, Record<ReplyRole, ReplyShape>> = {
  'bios-pxe': { full: {}, proxy: { ...pxe, discoveryControl: true } },
  'uefi-pxe': { full: {}, proxy: pxe },
  'uefi-http': { full: http, proxy: http },
  ipxe: { full: {}, proxy: pxe },
  'own-ipxe': { full: {}, proxy: pxe },
  'u-boot': { full: {}, proxy: pxe },
  'raspberry-pi': { full: raspberryPi, proxy: raspberryPi },
  'unknown-pxe': { full: {}, proxy: pxe },
};
