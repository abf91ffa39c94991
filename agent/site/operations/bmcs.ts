import type { Log } from '#base/log.ts';
import { RailheadError } from '#contract/errors.ts';
import type { BmcBinding, SiteNode } from '#contract/nodeSpec.ts';
import { type Bmc, openBmc } from '#redfish/bmc.ts';
import type { BmcPins } from '../store/bmcPins.ts';
import { readCredentials, type SecretPlaces } from './credentials.ts';
import { createQueues } from './queues.ts';

/** The BMCs in use: one session each, one caller at a time, closed when nobody has asked for a while. */
export interface Bmcs {
  /** @throws RailheadError INVALID_STATE for a node without a BMC, INVALID_CONFIG without its secret, or the BMC's own */
  use<Result>(node: SiteNode, work: (bmc: Bmc) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export interface BmcsOptions {
  pins: BmcPins;
  secrets: SecretPlaces;
  log: Log;
  /** Milliseconds after which an unused session is closed. */
  idleMs?: number;
}

interface OpenBmc {
  binding: string;
  bmc: Bmc;
  idle?: NodeJS.Timeout;
}

export function createBmcs({ pins, secrets, log, idleMs = 60_000 }: BmcsOptions): Bmcs {
  const queues = createQueues();
  const open = new Map<string, OpenBmc>();

  async function close(address: string): Promise<void> {
    const entry = open.get(address);
    open.delete(address);
    clearTimeout(entry?.idle);
    await entry?.bmc
      .close()
      .catch((error: unknown) => log.debug({ err: error, bmc: address }, 'closing a BMC failed'));
  }

  async function opened(binding: BmcBinding): Promise<OpenBmc> {
    const known = open.get(binding.address);
    if (known?.binding === JSON.stringify(binding)) return known;
    await close(binding.address);
    const entry = { binding: JSON.stringify(binding), bmc: await connect(binding) };
    open.set(binding.address, entry);
    return entry;
  }

  async function connect({ address, credentialRef, certificateSha256 }: BmcBinding): Promise<Bmc> {
    const pin = certificateSha256 ?? pins.find(address);
    return openBmc({
      address,
      ...(await readCredentials(credentialRef, secrets)),
      ...(pin === undefined ? {} : { certificateSha256: pin }),
      onPin: (found) => pins.keep(address, found),
      log: log.child({ bmc: address }),
    });
  }

  async function useOpened<Result>(
    binding: BmcBinding,
    work: (bmc: Bmc) => Promise<Result>,
  ): Promise<Result> {
    const entry = await opened(binding);
    clearTimeout(entry.idle);
    try {
      return await work(entry.bmc);
    } finally {
      entry.idle = setTimeout(() => void queues.run(binding.address, () => close(binding.address)), idleMs);
      entry.idle.unref();
    }
  }

  return {
    use: async (node, work) => {
      const binding = boundBmc(node);
      return queues.run(binding.address, () => useOpened(binding, work));
    },
    close: async () => {
      await Promise.all([...open.keys()].map(close));
    },
  };
}

function boundBmc(node: SiteNode): BmcBinding {
  if (node.bmc !== undefined) return node.bmc;
  throw new RailheadError('INVALID_STATE', `${node.nodeId} has no BMC in its record: enroll it with one`, {
    path: 'bmc',
    reason: 'no-bmc',
    nodeId: node.nodeId,
  });
}
