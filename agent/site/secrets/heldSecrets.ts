import type { Sqlite } from '#base/sqlite.ts';
import { isSameBmc } from '#contract/bmcBinding.ts';
import type { BmcBinding, SiteNode } from '#contract/nodeSpec.ts';

/** Which secrets the centre has named for a node's BMC last. */
export interface HeldSecrets {
  /** Left out by releases that did not keep it. */
  bmc?: BmcBinding | undefined;
  credentialRef?: string | undefined;
  secretId?: string | undefined;
  nextId?: string | undefined;
  /** The one that it named before those, where it has not said that its BMC has another password. */
  formerId?: string | undefined;
}

/**
 * What is held of a node from now on. A centre that was restored from a backup of before a change of password names the secret of before, and the
 * site alone has the one that is right: it stays as `formerId`. It does not after a change that a login has proven (what was next is the node's
 * own), or when an operator has deleted it; and a BMC elsewhere is never tried with it.
 */
export function heldNow(
  before: HeldSecrets | undefined,
  { bmc, bmcSecret, bmcNextSecret }: Pick<SiteNode, 'bmc' | 'bmcSecret' | 'bmcNextSecret'>,
): HeldSecrets {
  const [secretId, nextId] = [bmcSecret?.secretId, bmcNextSecret?.secretId];
  const now = { bmc, credentialRef: bmc?.credentialRef, secretId, nextId };
  return { ...now, formerId: before && formerOf(before, now) };
}

function formerOf(before: HeldSecrets, now: HeldSecrets): string | undefined {
  if (before.bmc !== undefined && !isSameBmc(before.bmc, now.bmc)) return undefined;
  const isSameRef = now.credentialRef === before.credentialRef;
  if (isSameRef && now.secretId === before.secretId) return before.formerId;
  if (now.secretId !== undefined && now.secretId === before.nextId) return undefined;
  if (isSameRef && now.secretId === undefined) return undefined;
  return before.secretId ?? before.formerId;
}

/** Kept on the disk: the agent may end between the desired state and what follows from it. */
export interface HeldSecretsStore {
  /** Takes what the centre names for these nodes, and forgets all others. */
  note(nodes: readonly SiteNode[]): void;
  formerOf(nodeId: string): string | undefined;
  formerIds(): string[];
  /** The BMC takes what the centre names. */
  endFormer(nodeId: string): void;
}

export function openHeldSecrets(database: Sqlite): HeldSecretsStore {
  type Row = { nodeId: string; document: string };
  const all = database.prepare<[], Row>('SELECT node_id AS nodeId, document FROM bmc_secrets');
  const find = database.prepare<[string], Row>(
    'SELECT node_id AS nodeId, document FROM bmc_secrets WHERE node_id = ?',
  );
  const put = database.prepare(
    'INSERT OR REPLACE INTO bmc_secrets (node_id, document) VALUES (@nodeId, @document)',
  );
  const drop = database.prepare('DELETE FROM bmc_secrets WHERE node_id = ?');
  const heldOf = ({ document }: Row) => JSON.parse(document) as HeldSecrets;

  function write(nodeId: string, held: HeldSecrets, before?: Row): void {
    const document = JSON.stringify(held);
    if (document !== before?.document) put.run({ nodeId, document });
  }

  return {
    note: database.transaction((nodes: readonly SiteNode[]) => {
      const before = new Map(all.all().map((row) => [row.nodeId, row]));
      for (const node of nodes) {
        const row = before.get(node.nodeId);
        write(node.nodeId, heldNow(row && heldOf(row), node), row);
      }
      const known = new Set(nodes.map(({ nodeId }) => nodeId));
      for (const nodeId of before.keys()) if (!known.has(nodeId)) drop.run(nodeId);
    }),
    formerOf: (nodeId) => {
      const row = find.get(nodeId);
      return row && heldOf(row).formerId;
    },
    formerIds: () => all.all().flatMap((row) => heldOf(row).formerId ?? []),
    endFormer: (nodeId) => {
      const row = find.get(nodeId);
      if (row !== undefined) write(nodeId, { ...heldOf(row), formerId: undefined });
    },
  };
}
