import { signDocument } from '#base/jws.ts';
import type { RamdiskEntry } from '#contract/bootEntry.ts';
import { RailheadError } from '#contract/errors.ts';
import { desireEntry } from '../../bootEntries.ts';
import { readPoolPolicy } from '../../groups/poolPolicy.ts';
import { resolveImage } from '../../images/resolve.ts';
import { deployUse, verifyImageForUse } from '../../images/verify.ts';
import type { Row } from '../../store/tables.ts';
import { boundEntry, nodeOf } from '../boundEntry.ts';
import { underClaim } from '../claims.ts';
import { relay } from '../relay.ts';
import type { StepResult, StepRun } from '../stepRun.ts';

/**
 * Places a signed boot entry at the site: the machine's next network boot starts the pool's ramdisk. The entry is part of the
 * site's desired state before the operation is, so that a site which lost its own state serves it all the same.
 */
export function prepareRamdisk(run: StepRun): Promise<StepResult> {
  return relay(run, 'boot.prepareRamdisk', async () => {
    const entry = await bootEntry(run);
    const signed = await signDocument('railhead-boot-entry', entry, run.central.keys.signing);
    await underClaim(run.central.store, run.workflow, (queries) => desireEntry(queries, entry, signed));
    return { entry: signed };
  });
}

async function bootEntry(run: StepRun): Promise<RamdiskEntry> {
  const node = await nodeOf(run);
  return { ...(await boundEntry(run, node)), ramdisk: await poolRamdisk(run, node) };
}

/** The pool's ramdisk images by digest, each verified now. */
async function poolRamdisk(run: StepRun, node: Row<'nodes'>): Promise<RamdiskEntry['ramdisk']> {
  const { store } = run.central;
  const pool = await store
    .selectFrom('pools')
    .selectAll()
    .where('pool_id', '=', node.pool_id ?? '')
    .executeTakeFirst();
  const refs = pool === undefined ? [] : Object.entries(readPoolPolicy(pool.policy).ramdisk);
  const [first] = refs;
  if (pool === undefined || first === undefined) throw noRamdisk(node);
  const digests: RamdiskEntry['ramdisk']['digests'] = {};
  for (const [architecture, ref] of refs) {
    const image = await resolveImage(store, pool.tenant_id, ref);
    if (image.kind !== 'ramdisk') throw notRamdisk(ref);
    await verifyImageForUse(store, image, deployUse(run.central.images, pool.tenant_id));
    digests[architecture as keyof typeof digests] = image.sha256;
  }
  return { ref: first[1], digests };
}

function noRamdisk(node: Row<'nodes'>): RailheadError {
  const message = `node ${node.node_id} is in no pool that names a ramdisk: set policy.ramdisk of its pool`;
  return new RailheadError('INVALID_STATE', message, { reason: 'no-ramdisk-image', nodeId: node.node_id });
}

/** Only a platform signer may vouch for what machines boot: an OS image could be anybody's. */
function notRamdisk(ref: string): RailheadError {
  const message = `image ${ref} is no ramdisk: name one in policy.ramdisk of the node's pool`;
  return new RailheadError('INVALID_STATE', message, { reason: 'not-a-ramdisk', ref });
}
