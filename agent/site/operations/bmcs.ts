import type { Log } from '#base/log.ts';
import { Slots } from '#base/slots.ts';
import { RailheadError } from '#contract/errors.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import { type BoundNode, boundNode, placeOf } from '../drivers/boundNode.ts';
import type { MachineDriver } from '../drivers/driver.ts';
import type { OpenDriver } from '../drivers/open.ts';
import { createQueues } from './queues.ts';

/** The BMCs in use: one session each, one caller at a time, closed when nobody has asked for a while. */
export interface Bmcs {
  /**
   * Works with what drives a node.
   * @throws RailheadError INVALID_STATE for a node without a BMC, or what its credentials or the BMC itself fail with
   */
  use<Result>(node: SiteNode, work: (bmc: MachineDriver) => Promise<Result>): Promise<Result>;
  /** The same for what only reads: it waits for nobody where the session is open, e.g. while an operation waits minutes for a power state. */
  read<Result>(node: SiteNode, work: (bmc: MachineDriver) => Promise<Result>): Promise<Result>;
  /** Ends a node's session in its turn: the next use opens a new one. */
  closeSession(node: SiteNode): Promise<void>;
  close(): Promise<void>;
}

export interface BmcsOptions {
  open: OpenDriver;
  log: Log;
  /** Milliseconds after which an unused session is closed. */
  idleMs?: number;
}

interface OpenBmc {
  /** What it was opened by; another address, pin or version of the secret needs another session. */
  binding: string;
  bmc: MachineDriver;
  idle?: NodeJS.Timeout;
}

/** Each session's end may need a connection; hundreds at once would not be made in time, and sessions would be left behind. */
const closingAtOnce = 20;

export function createBmcs({ open, log, idleMs = 60_000 }: BmcsOptions): Bmcs {
  const queues = createQueues();
  const opened = new Map<string, OpenBmc>();
  let closed = false;

  async function close(place: string): Promise<void> {
    const entry = opened.get(place);
    opened.delete(place);
    clearTimeout(entry?.idle);
    await entry?.bmc
      .close()
      .catch((error: unknown) => log.debug({ err: error, bmc: place }, 'closing a BMC failed'));
  }

  async function entryOf(node: BoundNode, place: string): Promise<OpenBmc> {
    const binding = bindingOf(node);
    const known = opened.get(place);
    if (known?.binding === binding) return known;
    await close(place);
    const entry = { binding, bmc: await open(node) };
    opened.set(place, entry);
    return entry;
  }

  /** A stream of events needs the session as long as it is open. */
  function closeLater(place: string, entry: OpenBmc): void {
    entry.idle = setTimeout(() => {
      if (entry.bmc.events?.isStreaming()) closeLater(place, entry);
      else void queues.run(place, () => close(place));
    }, idleMs);
    entry.idle.unref();
  }

  async function useOpened<Result>(
    node: BoundNode,
    place: string,
    work: (bmc: MachineDriver) => Promise<Result>,
  ): Promise<Result> {
    const entry = await entryOf(node, place);
    clearTimeout(entry.idle);
    try {
      return await work(entry.bmc);
    } finally {
      closeLater(place, entry);
    }
  }

  async function use<Result>(node: SiteNode, work: (bmc: MachineDriver) => Promise<Result>): Promise<Result> {
    const bound = boundNode(node);
    const place = placeOf(bound);
    return queues.run(place, () => (closed ? Promise.reject(stopping()) : useOpened(bound, place, work)));
  }

  return {
    use,
    read: async (node, work) => {
      const bound = boundNode(node);
      const known = opened.get(placeOf(bound));
      return known?.binding === bindingOf(bound) ? work(known.bmc) : use(node, work);
    },
    closeSession: (node) => {
      const place = placeOf(boundNode(node));
      return queues.run(place, () => close(place));
    },
    close: async () => {
      closed = true;
      const slots = new Slots(closingAtOnce);
      await Promise.all([...opened.keys()].map((place) => slots.run(() => close(place))));
    },
  };
}

/** No session is opened that nobody would end. */
function stopping(): RailheadError {
  return new RailheadError('UNAVAILABLE', 'the site agent is stopping: ask again once it runs', {
    reason: 'stopping',
  });
}

/** Redfish finds the machine by itself: an interface more is no reason to end its session, and the stream of events with it. */
function bindingOf({ bmc, bmcSecret, bmcNextSecret, macs }: BoundNode): string {
  return JSON.stringify([bmc, bmcSecret, bmcNextSecret, bmc.driver === 'redfish' ? [] : macs]);
}
