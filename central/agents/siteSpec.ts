import { type BootQuirks, mergedQuirks } from '#contract/bootQuirks.ts';
import type { SiteNode, SiteSection } from '#contract/nodeSpec.ts';
import { desiredEntries } from '../bootEntries.ts';
import type { CentralContext } from '../context.ts';
import { readPoolPolicy } from '../groups/poolPolicy.ts';
import { withdrawnDigests } from '../images/withdrawal.ts';
import { loaderFor } from '../metal/loader.ts';
import { recordingOf } from '../metal/recordings.ts';
import { bmcSecretsOf, siteSecrets } from '../secrets.ts';
import { desiredImages } from '../siteCaches/desired.ts';
import { pinnedDigests } from '../siteCaches/locations.ts';
import { parseJson } from '../store/store.ts';
import type { Row } from '../store/tables.ts';

/** What a site is to hold, know and serve as of now. */
export async function siteSection(context: CentralContext, siteId: string): Promise<SiteSection> {
  const images = await desiredImages(context, siteId);
  const withdrawn = await withdrawnDigests(context.store);
  return {
    // One that was withdrawn between the two questions is not desired either.
    cacheImages: images.filter(({ digest }) => !withdrawn.includes(digest)),
    withdrawn,
    pinned: await pinnedDigests(context.store, siteId),
    nodes: await siteNodes(context, siteId),
    bootEntries: await desiredEntries(context.store, siteId),
  };
}

async function siteNodes({ store }: CentralContext, siteId: string): Promise<SiteNode[]> {
  const nodes = await store
    .selectFrom('nodes')
    .selectAll()
    .where('site_id', '=', siteId)
    .orderBy('node_id')
    .execute();
  const macs = await store
    .selectFrom('node_macs')
    .selectAll()
    .where('site_id', '=', siteId)
    .orderBy('mac')
    .execute();
  const secrets = await siteSecrets(store, siteId);
  const poolQuirks = await quirksOfPools(store, siteId);
  return nodes.map((node) =>
    siteNode(node, {
      macs: macs.filter((row) => row.node_id === node.node_id).map((row) => row.mac),
      secrets: bmcSecretsOf(node, secrets),
      poolQuirks: poolQuirks.get(node.pool_id ?? ''),
    }),
  );
}

async function quirksOfPools(
  store: CentralContext['store'],
  siteId: string,
): Promise<Map<string, BootQuirks | undefined>> {
  const pools = await store.selectFrom('pools').selectAll().where('site_id', '=', siteId).execute();
  return new Map(pools.map(({ pool_id, policy }) => [pool_id, readPoolPolicy(policy).bootQuirks]));
}

interface NodeParts {
  macs: string[];
  secrets: ReturnType<typeof bmcSecretsOf>;
  poolQuirks: BootQuirks | undefined;
}

function siteNode(node: Row<'nodes'>, { macs, secrets, poolQuirks }: NodeParts): SiteNode {
  const bootQuirks = mergedQuirks(parseJson<BootQuirks>(node.boot_quirks), poolQuirks);
  const loader = loaderFor(node);
  const recording = recordingOf(node);
  return {
    nodeId: node.node_id,
    macs,
    ...(node.uuid === null ? {} : { uuid: node.uuid }),
    ...(node.hostname === null ? {} : { hostname: node.hostname }),
    ...(node.address === null ? {} : { address: node.address }),
    ...(loader === undefined ? {} : { loader }),
    ...(bootQuirks === undefined ? {} : { bootQuirks }),
    ...(node.bmc === null ? {} : { bmc: JSON.parse(node.bmc) as NonNullable<SiteNode['bmc']> }),
    ...secrets,
    ...(recording === undefined ? {} : { recording }),
  };
}
