import { describe, expect, test } from 'vitest';
import { decideLoader, type LoaderFacts } from '#agent/site/loaderOf.ts';

const digest = '1'.repeat(64);
const entry = {
  entryId: 'be_1',
  siteId: 'site_1',
  nodeId: 'node_1',
  macs: ['02:00:00:00:00:01'],
  issuedAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-01T04:00:00.000Z',
};
const ramdiskEntry = { ...entry, ramdisk: { ref: 'ramdisk@1', digests: { x86_64: digest } } };
const chosen = (facts: Partial<LoaderFacts>) =>
  decideLoader({
    wanted: undefined,
    usual: 'ipxe',
    hasShim: true,
    entry: undefined,
    isWithdrawn: () => false,
    ...facts,
  });

describe('what the firmware of a machine is handed', () => {
  test.each([
    ['nothing is said of it', {}, 'ipxe'],
    ['nothing is said of it at a site that uses shim', { usual: 'shim' }, 'shim'],
    ['shim is chosen', { wanted: 'shim' }, 'shim'],
    ['iPXE is chosen at a site that uses shim', { wanted: 'ipxe', usual: 'shim' }, 'ipxe'],
    ['shim is chosen and the site has none', { wanted: 'shim', hasShim: false }, 'ipxe'],
  ] as const)('where %s', (_, facts, kind) => {
    expect(chosen(facts)).toEqual({ kind });
  });

  test('with a key of its own: the ramdisk of its boot entry, and nothing without one', () => {
    const wanted = 'uki';
    expect(chosen({ wanted, entry: ramdiskEntry })).toEqual({ kind: 'uki', digests: { x86_64: digest } });
    expect(chosen({ wanted })).toEqual({ kind: 'uki', digests: {} });
    expect(chosen({ wanted, entry: ramdiskEntry, isWithdrawn: () => true })).toEqual({
      kind: 'uki',
      digests: {},
    });
    const isoEntry = { ...entry, iso: { ref: 'iso@1', digest } };
    expect(chosen({ wanted, entry: isoEntry })).toEqual({ kind: 'uki', digests: {} });
  });
});
