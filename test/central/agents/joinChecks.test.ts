import { expect, test } from 'vitest';
import { decideJoin } from '#central/agents/joinChecks.ts';
import type { BootEntry } from '#contract/bootEntry.ts';
import type { RamdiskJoin } from '#contract/join.ts';

const hours = 3_600_000;
const issued = Date.parse('2026-03-01T00:00:00.000Z');
const mac = '02:00:00:00:00:01';
const time = (ms: number) => new Date(issued + ms).toISOString();
const entry = {
  ...{ entryId: 'be_1', siteId: 'site_1', nodeId: 'node_1', macs: [mac] },
  ramdisk: { ref: 'ramdisk@1', digests: {} },
  issuedAt: time(0),
  expiresAt: time(4 * hours),
} satisfies BootEntry;
const join = { mac, trust: 'network', signingKey: { kty: 'OKP', crv: 'Ed25519', x: 'key' } } as RamdiskJoin;

/** What the centre makes of a join that the site says was at `at` and that it hears of at `now`, in hours after the entry was made. */
function decide(at: number, now: number) {
  const event = { eventId: 'ev_1', type: 'agent.joined' as const, at: time(at * hours), trust: join.trust };
  const known = { siteId: 'site_1', nodeId: 'node_1', macs: [mac], entry, signingKey: undefined };
  return decideJoin(event, join, { ...known, now: issued + now * hours })?.reason;
}

test.each([
  ['at once', 0, 0],
  ["a little before its entry, by the site's clock", -0.5, 0.1],
  ["a little ahead of the centre, by the site's clock", 1.5, 1],
  ['at the end of its entry', 4, 4],
  ['days ago, while the centre was away', 1, 100],
])('a join %s is believed', (_, at, now) => {
  expect(decide(at, now)).toBeUndefined();
});

test.each([
  ['before its entry was made', -2, 1],
  ['years before', -200_000, 1],
  ['still to come', 3.5, 1],
  ['after its entry ended', 4.1, 4.2],
  ['under an entry that ended weeks ago', 1, 400],
])('a join %s is not believed, whatever the site says', (_, at, now) => {
  expect(decide(at, now)).toBe('no-entry');
});

test('a time that is none is not believed', () => {
  const event = { eventId: 'ev_1', type: 'agent.joined' as const, at: 'soon', trust: join.trust };
  const known = { siteId: 'site_1', nodeId: 'node_1', macs: [mac], entry, signingKey: undefined };
  expect(decideJoin(event, join, { ...known, now: issued })?.reason).toBe('no-entry');
});
