import { isDeepStrictEqual } from 'node:util';
import { Value } from 'typebox/value';
import { publicKeyFromJwk, verifyDocument } from '#base/jws.ts';
import { BootEntry, isIsoEntry } from '#contract/bootEntry.ts';
import { RamdiskJoin } from '#contract/join.ts';
import type { CentralContext } from '../context.ts';
import { isListed } from '../join/revocationList.ts';
import { acceptedSigningKeys } from '../join/trust.ts';
import type { Queries } from '../store/store.ts';
import type { ReportedEvent } from './reportSchema.ts';

/** A site's clock may be off by this much, in milliseconds. */
const clockMs = 3_600_000;
/** A join that the site could not tell at once still counts this long after its boot entry ended, in milliseconds. */
const tellableMs = 7 * 24 * 3_600_000;

/** What a ramdisk's join is checked against. */
export interface JoinExpectation {
  siteId: string;
  nodeId: string;
  /** The node's hardware addresses. */
  macs: readonly string[];
  /** The boot entry as this centre signed it; undefined when it did not. */
  entry: BootEntry | undefined;
  /** The key of an earlier join in the same boot of the machine, if there was one. */
  signingKey: RamdiskJoin['signingKey'] | undefined;
  /** The centre's own clock, in milliseconds. */
  now: number;
}

/** Why a join is not believed. */
export interface JoinRefusal {
  reason: 'proof' | 'no-entry' | 'other-mac' | 'trust-level' | 'contested' | 'revoked';
  text: string;
}

/** Why a join whose proof holds is not believed all the same; undefined when it is. A site can withhold a join, not make one up. */
export function decideJoin(
  { at, mac, trust }: ReportedEvent,
  join: RamdiskJoin,
  expected: JoinExpectation,
): JoinRefusal | undefined {
  const { entry } = expected;
  if (entry === undefined) return { reason: 'no-entry', text: 'it came under no boot entry of this centre' };
  if (entry.siteId !== expected.siteId || entry.nodeId !== expected.nodeId)
    return { reason: 'no-entry', text: `its boot entry is for ${entry.nodeId} at ${entry.siteId}` };
  if (isIsoEntry(entry))
    return { reason: 'no-entry', text: `its boot entry is for the ISO ${entry.iso.ref}` };
  const untimely = decideTime(Date.parse(at), entry, expected.now);
  if (untimely !== undefined) return { reason: 'no-entry', text: untimely };
  if (mac !== undefined && mac !== join.mac)
    return { reason: 'other-mac', text: `the site says ${mac}, the machine ${join.mac}` };
  if (!entry.macs.includes(join.mac) || !expected.macs.includes(join.mac))
    return { reason: 'other-mac', text: `${join.mac} is no address of this node` };
  if (trust !== join.trust)
    return { reason: 'trust-level', text: `the site says ${trust}, the machine ${join.trust}` };
  if (expected.signingKey !== undefined && expected.signingKey.x !== join.signingKey.x)
    return { reason: 'contested', text: 'another agent has joined in the same boot' };
  return undefined;
}

/** When a join was is the site's word: it has to fit what the centre knows by its own clock. In words what does not; undefined when it fits. */
function decideTime(at: number, entry: BootEntry, now: number): string | undefined {
  const { issuedAt, expiresAt } = entry;
  const ended = Date.parse(expiresAt);
  if (!(at <= ended)) return `its boot entry ended ${expiresAt}`;
  if (!(at >= Date.parse(issuedAt) - clockMs)) return `its boot entry was made only ${issuedAt}`;
  if (at > now + clockMs) return `it is said to be of ${new Date(at).toISOString()}, which is to come`;
  if (now > ended + tellableMs) return `its boot entry ended ${expiresAt}, too long ago to be told of now`;
  return undefined;
}

/** Checks a join that a site reports: that the machine signed it, and that it fits what this centre let boot. */
export async function checkJoin(
  context: CentralContext,
  siteId: string,
  nodeId: string,
  event: ReportedEvent,
): Promise<JoinRefusal | undefined> {
  const { join } = event;
  if (!Value.Check(RamdiskJoin, join) || !(await proofHolds(join)))
    return { reason: 'proof', text: 'it is not signed, as it stands, by the key that it brings' };
  if (await isListed(context.store, 'machine-key', join.signingKey.x))
    return { reason: 'revoked', text: 'its key was revoked' };
  return decideJoin(event, join, {
    siteId,
    nodeId,
    macs: await macsOf(context.store, nodeId),
    entry: await ownEntry(context, event.entry),
    signingKey: await keyOfBoot(context.store, nodeId, join.bootId),
    now: Date.now(),
  });
}

async function proofHolds(join: RamdiskJoin): Promise<boolean> {
  const { proof, ...message } = join;
  try {
    const signed = await verifyDocument('railhead-ramdisk-join', proof, publicKeyFromJwk(join.signingKey));
    return isDeepStrictEqual(signed, message);
  } catch {
    return false;
  }
}

async function ownEntry({ keys }: CentralContext, jws = ''): Promise<BootEntry | undefined> {
  try {
    const entry = await verifyDocument('railhead-boot-entry', jws, acceptedSigningKeys(keys));
    return Value.Check(BootEntry, entry) ? entry : undefined;
  } catch {
    return undefined;
  }
}

async function macsOf(store: Queries, nodeId: string): Promise<string[]> {
  const rows = await store.selectFrom('node_macs').select('mac').where('node_id', '=', nodeId).execute();
  return rows.map(({ mac }) => mac);
}

async function keyOfBoot(store: Queries, nodeId: string, bootId: string) {
  const join = await store
    .selectFrom('node_joins')
    .select('signing_key')
    .where('node_id', '=', nodeId)
    .where('role', '=', 'ramdisk')
    .where('boot_id', '=', bootId)
    .orderBy('join_id')
    .executeTakeFirst();
  return join?.signing_key == null ? undefined : (JSON.parse(join.signing_key) as RamdiskJoin['signingKey']);
}
