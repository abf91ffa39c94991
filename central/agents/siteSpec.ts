import type { SiteNode, SiteSection } from '#contract/nodeSpec.ts';
import type { SecretVersion } from '#contract/secrets.ts';
import { desiredEntries } from '../bootEntries.ts';
import type { CentralContext } from '../context.ts';
import { withdrawnDigests } from '../images/withdrawal.ts';
import { bmcSecretOf, siteSecrets } from '../secrets.ts';
import { desiredImages } from '../siteCaches/desired.ts';
import { pinnedDigests } from '../siteCaches/locations.ts';
import type { Row } from '../store/tables.ts';

/** What a site is to hold, know and serve as of now. */
export async function siteSection(context: CentralContext, siteId: string): Promise<SiteSection> {
  return {
    cacheImages: await desiredImages(context, siteId),
    withdrawn: await withdrawnDigests(context.store),
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
  return nodes.map((node) =>
    siteNode(
      node,
      macs.filter((row) => row.node_id === node.node_id).map((row) => row.mac),
      bmcSecretOf(node, secrets),
    ),
  );
}

function siteNode(node: Row<'nodes'>, macs: string[], bmcSecret: SecretVersion | undefined): SiteNode {
  return {
    nodeId: node.node_id,
    macs,
    ...(node.uuid === null ? {} : { uuid: node.uuid }),
    ...(node.hostname === null ? {} : { hostname: node.hostname }),
    ...(node.address === null ? {} : { address: node.address }),
    ...(node.bmc === null ? {} : { bmc: JSON.parse(node.bmc) as NonNullable<SiteNode['bmc']> }),
    ...(bmcSecret === undefined ? {} : { bmcSecret }),
  };
}
