import { BootEntry, canonicalMac, digestsOf, isIsoEntry } from '#contract/bootEntry.ts';
import { canonicalUuid, isSameUuid } from '#contract/productUuid.ts';
import { validate } from '#contract/validate.ts';
import { isRailheadError, json, parsedJson } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

const bound = {
  entryId: 'be_1',
  siteId: 'site-1',
  nodeId: 'node_1',
  macs: ['02:00:00:00:00:01'],
  uuid: '00112233-4455-6677-8899-aabbccddeeff',
  issuedAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-01T06:00:00.000Z',
};

/** A boot entry, and the spellings of a MAC and a UUID. */
export const target: FuzzTarget = {
  seeds: [
    json({ ...bound, ramdisk: { ref: 'ramdisk@1', digests: { x86_64: 'ab'.repeat(32) } } }),
    json({ ...bound, iso: { ref: 'iso@1', digest: 'ab'.repeat(32) } }),
  ],
  longest: 65_536,
  run(input) {
    const spelling = input.toString('latin1');
    canonicalMac(spelling);
    isSameUuid(canonicalUuid(spelling), spelling);
    const entry = validate(BootEntry, parsedJson(input));
    digestsOf(entry);
    isIsoEntry(entry);
  },
  declares: isRailheadError,
};
