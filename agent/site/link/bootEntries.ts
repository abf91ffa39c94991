import type { KeyObject } from 'node:crypto';
import type { Log } from '#base/log.ts';
import type { ImageCache } from '#cache/imageCache.ts';
import type { BootEntry } from '#contract/bootEntry.ts';
import { bootedBy, checkEntry, openEntry } from '../operations/bootEntry.ts';
import type { SiteState } from '../store/state.ts';

export interface EntryParts {
  siteId: string;
  signingKeys(): readonly KeyObject[];
  state: Pick<SiteState, 'spec' | 'entries'>;
  cache: Pick<ImageCache, 'ready'>;
  signal: AbortSignal;
  log: Log;
}

/**
 * Makes the boot entries of this site those that the centre states, each a compact JWS by its key. What is stated no more goes at
 * once; what is lacking appears as soon as what it boots is here. Usually an operation has placed them already: this is for a
 * site that lost its state, or missed the end of a workflow.
 */
export async function convergeEntries(stated: readonly string[], parts: EntryParts): Promise<void> {
  const { state, log } = parts;
  const wanted: { entry: BootEntry; jws: string }[] = [];
  for (const jws of stated)
    try {
      const entry = await openEntry(jws, parts.signingKeys());
      checkEntry(entry, { siteId: parts.siteId, nodeId: entry.nodeId, now: Date.now() });
      wanted.push({ entry, jws });
    } catch (error) {
      log.warn({ err: error }, 'a boot entry of the desired state is not taken');
    }
  const held = state.entries.all();
  for (const { nodeId, entryId } of held)
    if (!wanted.some(({ entry }) => entry.entryId === entryId)) state.entries.remove(nodeId);
  for (const { entry, jws } of wanted)
    if (!held.some(({ entryId }) => entryId === entry.entryId))
      place(entry, jws, parts).catch((error: unknown) =>
        log.warn({ err: error, nodeId: entry.nodeId }, 'a boot entry cannot be served yet'),
      );
}

async function place(entry: BootEntry, jws: string, { state, cache, signal }: EntryParts): Promise<void> {
  for (const digest of bootedBy(entry)) await cache.ready(digest, signal);
  const isStillStated = state.spec.current()?.site?.bootEntries?.includes(jws);
  if (isStillStated === true && !signal.aborted) state.entries.put(entry, jws);
}
