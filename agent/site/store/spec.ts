import type { Sqlite } from '#base/sqlite.ts';
import { RailheadError } from '#contract/errors.ts';
import type { NodeSpec, SiteNode } from '#contract/nodeSpec.ts';

/** The newest desired state that the centre gave, kept for when the centre is away. */
export interface SpecStore {
  /** The generation observed; 0 before the first spec. */
  generation(): number;
  current(): NodeSpec | undefined;
  node(nodeId: string): SiteNode | undefined;
  nodeByMac(mac: string): SiteNode | undefined;
  /** Whether some node has this address reserved. */
  isReserved(address: string): boolean;
  /** Whether nothing may boot or get these bytes any more. */
  isWithdrawn(digest: string): boolean;
  replace(spec: NodeSpec): void;
}

/** @throws RailheadError NOT_FOUND for a machine that the centre has not told this site of */
export function requireNode(spec: Pick<SpecStore, 'node'>, nodeId: string): SiteNode {
  const node = spec.node(nodeId);
  if (node !== undefined) return node;
  const message = `this site's desired state has no ${nodeId}`;
  throw new RailheadError('NOT_FOUND', message, { path: 'nodeId', nodeId });
}

export function openSpec(database: Sqlite): SpecStore {
  const read = database.prepare<[], { document: string }>('SELECT document FROM spec');
  const write = database.prepare('INSERT OR REPLACE INTO spec (only, document) VALUES (1, ?)');
  let current: NodeSpec | undefined = parsed(read.get());
  let byMac = indexByMac(current);
  let reserved = reservedAddresses(current);
  return {
    generation: () => current?.generation ?? 0,
    current: () => current,
    node: (nodeId) => current?.site?.nodes.find((node) => node.nodeId === nodeId),
    nodeByMac: (mac) => byMac.get(mac),
    isReserved: (address) => reserved.has(address),
    isWithdrawn: (digest) => current?.site?.withdrawn?.includes(digest) ?? false,
    replace: (spec) => {
      write.run(JSON.stringify(spec));
      current = spec;
      byMac = indexByMac(spec);
      reserved = reservedAddresses(spec);
    },
  };
}

function parsed(row: { document: string } | undefined): NodeSpec | undefined {
  return row && JSON.parse(row.document);
}

function reservedAddresses(spec: NodeSpec | undefined): Set<string> {
  return new Set(spec?.site?.nodes.flatMap(({ address }) => address ?? []));
}

function indexByMac(spec: NodeSpec | undefined): Map<string, SiteNode> {
  return new Map(spec?.site?.nodes.flatMap((node) => node.macs.map((mac) => [mac, node] as const)));
}
