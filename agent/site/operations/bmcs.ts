import type { Log } from '#base/log.ts';
import { RailheadError } from '#contract/errors.ts';
import type { BmcBinding, SiteNode } from '#contract/nodeSpec.ts';
import type { Credentials } from '#contract/secrets.ts';
import { type Bmc, openBmc } from '#redfish/bmc.ts';
import type { BmcPins } from '../store/bmcPins.ts';
import { createQueues } from './queues.ts';

/** The BMCs in use: one session each, one caller at a time, closed when nobody has asked for a while. */
export interface Bmcs {
  /** @throws RailheadError INVALID_STATE for a node without a BMC, or what its credentials or the BMC itself fail with */
  use<Result>(node: SiteNode, work: (bmc: Bmc) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export interface BmcsOptions {
  pins: BmcPins;
  /** Asked when a session is opened: what it answers is nowhere else. */
  credentialsOf(node: BoundNode): Promise<Credentials>;
  log: Log;
  /** Milliseconds after which an unused session is closed. */
  idleMs?: number;
}

/** A node that has a BMC. */
export type BoundNode = Pick<SiteNode, 'bmcSecret'> & { bmc: BmcBinding };

interface OpenBmc {
  /** What it was opened by; another address, pin or version of the secret needs another session. */
  binding: string;
  bmc: Bmc;
  idle?: NodeJS.Timeout;
}

export function createBmcs({ pins, credentialsOf, log, idleMs = 60_000 }: BmcsOptions): Bmcs {
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

  async function opened(node: BoundNode): Promise<OpenBmc> {
    const { address } = node.bmc;
    const binding = JSON.stringify([node.bmc, node.bmcSecret]);
    const known = open.get(address);
    if (known?.binding === binding) return known;
    await close(address);
    const entry = { binding, bmc: await connect(node) };
    open.set(address, entry);
    return entry;
  }

  async function connect(node: BoundNode): Promise<Bmc> {
    const { address, certificateSha256 } = node.bmc;
    const pin = certificateSha256 ?? pins.find(address);
    return openBmc({
      address,
      ...(await credentialsOf(node)),
      ...(pin === undefined ? {} : { certificateSha256: pin }),
      onPin: (found) => pins.keep(address, found),
      log: log.child({ bmc: address }),
    });
  }

  async function useOpened<Result>(node: BoundNode, work: (bmc: Bmc) => Promise<Result>): Promise<Result> {
    const { address } = node.bmc;
    const entry = await opened(node);
    clearTimeout(entry.idle);
    try {
      return await work(entry.bmc);
    } finally {
      entry.idle = setTimeout(() => void queues.run(address, () => close(address)), idleMs);
      entry.idle.unref();
    }
  }

  return {
    use: async (node, work) => {
      const bound = boundNode(node);
      return queues.run(bound.bmc.address, () => useOpened(bound, work));
    },
    close: async () => {
      await Promise.all([...open.keys()].map(close));
    },
  };
}

function boundNode({ nodeId, bmc, bmcSecret }: SiteNode): BoundNode {
  if (bmc !== undefined) return { bmc, ...(bmcSecret === undefined ? {} : { bmcSecret }) };
  throw new RailheadError('INVALID_STATE', `${nodeId} has no BMC in its record: enroll it with one`, {
    path: 'bmc',
    reason: 'no-bmc',
    nodeId,
  });
}
