import type { Log } from '#base/log.ts';
import { visible } from '#base/visible.ts';
import { type BmcEventsWay, type BmcHealth, healthText } from '#contract/bmcHealth.ts';
import type { LogMark, LogReading } from '#contract/bmcLog.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import type { DriveOptions } from '../drivers/driver.ts';
import type { Bmcs } from '../operations/bmcs.ts';
import type { SiteState } from '../store/state.ts';
import { type LogBudget, logNews, newBudget } from './logNews.ts';

export interface LookParts {
  state: Pick<SiteState, 'events' | 'bmcLogs' | 'atomically'>;
  bmcs: Pick<Bmcs, 'use'>;
  onEvent(): void;
  /** Ends the looking. */
  signal?: AbortSignal;
  /** How what happens at a node's BMC comes to be known. */
  wayOf?(nodeId: string): BmcEventsWay;
  log: Log;
}

/** What is known of one BMC from looking at it. */
export interface Looked {
  losses: number;
  /** What was told last. */
  told?: string;
  /** What it said last, for whoever asks the site. */
  health?: BmcHealth;
  budget: LogBudget;
}

export function newLooked(): Looked {
  return { losses: 0, budget: newBudget(Date.now()) };
}

/** One answer that was lost is no news. */
const lossesInARow = 2;

/** Reads power and health, and tells the centre when they are other than before. Whether the BMC answered. */
export async function lookAtHealth(node: SiteNode, looked: Looked, parts: LookParts): Promise<boolean> {
  const said = await parts.bmcs
    .use(node, async (bmc) => bmc.health?.(untilEnd(parts)))
    .catch((error: unknown) => {
      parts.log.debug({ err: error, nodeId: node.nodeId }, 'a BMC did not tell its health');
      return parts.signal?.aborted ? undefined : lost(error, looked);
    });
  if (said === undefined || parts.signal?.aborted) return false;
  const events = parts.wayOf?.(node.nodeId);
  const health = events === undefined ? said : { ...said, events };
  const answered = health.health !== 'Unreachable';
  if (answered) looked.losses = 0;
  looked.health = health;
  const told = JSON.stringify(health);
  if (told === looked.told) return answered;
  looked.told = told;
  parts.state.events.add({ type: 'bmc.health', ...placeOf(node), text: healthText(health), health });
  parts.onEvent();
  return answered;
}

function lost(error: unknown, looked: Looked): BmcHealth | undefined {
  looked.losses++;
  const faults = [error instanceof Error ? visible(error.message).slice(0, 256) : 'unknown'];
  return looked.losses < lossesInARow ? undefined : { health: 'Unreachable', faults };
}

/** Reads the BMC's log, and tells what is new in it, once: what was told and how far it was read are kept together. */
export async function lookAtLog(node: SiteNode, looked: Looked, parts: LookParts): Promise<void> {
  const { state, bmcs, log } = parts;
  const address = node.bmc?.address ?? '';
  const mark = state.bmcLogs.find(node.nodeId, address);
  const reading = await bmcs
    .use(node, async (bmc) => bmc.readLog?.(mark, untilEnd(parts)))
    .catch((error: unknown) => {
      log.debug({ err: error, nodeId: node.nodeId }, "a BMC's log could not be read");
      return undefined;
    });
  if (reading === undefined || parts.signal?.aborted || isNothingNew(reading, mark)) return;
  const isFirst = mark?.log !== reading.mark.log;
  const { happenings, budget } = logNews(reading, isFirst, looked.budget, Date.now());
  looked.budget = budget;
  state.atomically(() => {
    for (const happening of happenings) state.events.add({ ...happening, ...placeOf(node) });
    state.bmcLogs.keep(node.nodeId, address, reading.mark);
  });
  if (happenings.length > 0) parts.onEvent();
}

function untilEnd({ signal }: LookParts): DriveOptions {
  return signal === undefined ? {} : { signal };
}

function isNothingNew(reading: LogReading, mark: LogMark | undefined): boolean {
  return JSON.stringify(reading.mark) === JSON.stringify(mark);
}

export function placeOf({ nodeId, macs: [mac] }: SiteNode): { nodeId: string; mac?: string } {
  return { nodeId, ...(mac !== undefined && { mac }) };
}
