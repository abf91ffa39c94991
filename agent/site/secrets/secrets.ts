import { backoffMs } from '#base/backoff.ts';
import { systemClock } from '#base/clock.ts';
import { ignore } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { protocolVersion } from '#contract/agentWire.ts';
import type { BmcAccount } from '#contract/bmcPassword.ts';
import { RailheadError } from '#contract/errors.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import type { SecretVersion } from '#contract/secrets.ts';
import type { CentreClient } from '../link/centreClient.ts';
import type { HeldSecretsStore } from './heldSecrets.ts';
import { openSecrets } from './sealed.ts';
import type { SecretStore } from './store.ts';

export interface SecretsParts {
  store: SecretStore;
  held: HeldSecretsStore;
  client: Pick<CentreClient, 'secrets'>;
  /** The site's own sealing key (X25519), PKCS#8 PEM. */
  sealingPrivateKey: string;
  log: Log;
}

/** The secrets that the centre keeps for this site's machines, fetched ahead so that they are here when the centre is away. */
export interface Secrets {
  /** Fetches what these machines need and forgets what they do not, in the background. */
  desire(nodes: readonly SiteNode[]): void;
  /** @throws RailheadError UNAVAILABLE or what the centre answers, INVALID_STATE (`secret-missing`) when it gives none */
  text(secret: SecretVersion): Promise<string>;
  /** What a node's BMC may have though the centre names another secret: `heldSecrets.ts`. */
  former(nodeId: string): { secretId: string; text: string } | undefined;
  /** As whom a node's BMC takes the site, as the centre is to know it: that it is by a former secret is the site's own affair. */
  settleFormer(node: SiteNode, account: BmcAccount): BmcAccount;
  close(): Promise<void>;
}

/** The centre takes this many in one request. */
const batch = 100;
const limits = { firstMs: 500, maxMs: 60_000 };

export function createSecrets({ store, held, client, sealingPrivateKey, log }: SecretsParts): Secrets {
  let desired: readonly SecretVersion[] = [];
  let fetching: Promise<void> | undefined;
  const stop = new AbortController();

  async function fetch(secrets: readonly SecretVersion[]): Promise<void> {
    const secretIds = secrets.map(({ secretId }) => secretId);
    const answer = await client.secrets({ protocol: protocolVersion, secretIds }, stop.signal);
    for (const content of await openSecrets(answer, sealingPrivateKey)) store.keep(content);
  }

  const missing = () => desired.filter((secret) => store.find(secret) === undefined);

  async function fetchMissing(): Promise<void> {
    for (let failures = 0; !stop.signal.aborted && missing().length > 0; ) {
      try {
        await fetch(missing().slice(0, batch));
        if (missing().length === 0) return log.info({ secrets: desired.length }, 'every secret is here');
      } catch (error) {
        if (stop.signal.aborted) return;
        log[failures === 0 ? 'warn' : 'debug']({ err: error }, 'secrets could not be fetched; trying again');
      }
      await systemClock.sleep(backoffMs(++failures, limits), stop.signal).catch(ignore);
    }
  }

  return {
    desire: (nodes) => {
      held.note(nodes);
      desired = distinct(
        nodes.flatMap(({ bmcSecret, bmcNextSecret }) => [bmcSecret ?? [], bmcNextSecret ?? []].flat()),
      );
      store.retain([...desired.map(({ secretId }) => secretId), ...held.formerIds()]);
      fetching ??= fetchMissing().finally(() => {
        fetching = undefined;
      });
    },
    text: async (secret) => {
      const held = store.find(secret);
      if (held !== undefined) return held;
      await fetch([secret]);
      const fetched = store.find(secret);
      if (fetched !== undefined) return fetched;
      throw notGiven(secret);
    },
    former: (nodeId) => {
      const secretId = held.formerOf(nodeId);
      const text = secretId === undefined ? undefined : store.findAny(secretId);
      return secretId === undefined || text === undefined ? undefined : { secretId, text };
    },
    settleFormer: ({ nodeId, bmcNextSecret }, { secretId, ...account }) => {
      const told = { ...account, ...(secretId !== undefined && { secretId }) };
      const formerId = held.formerOf(nodeId);
      if (formerId === undefined) return told;
      if (secretId === formerId) return { ...account, works: 'current' };
      if (bmcNextSecret === undefined) held.endFormer(nodeId);
      return told;
    },
    close: async () => {
      stop.abort();
      await fetching;
    },
  };
}

function distinct(secrets: readonly SecretVersion[]): SecretVersion[] {
  return [...new Map(secrets.map((secret) => [secret.secretId, secret])).values()];
}

function notGiven({ secretId, version }: SecretVersion): RailheadError {
  const message = `the centre does not give version ${version} of ${secretId}: it was changed or removed just now`;
  return new RailheadError('INVALID_STATE', message, { reason: 'secret-missing', secretId, version });
}
