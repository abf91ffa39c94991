import type { Log } from '#base/log.ts';
import { type Closable, closeAll } from '#base/shutdown.ts';
import type { KeptIdentity } from '../join/keptIdentity.ts';
import type { Secrets } from './secrets/secrets.ts';
import type { SiteState } from './store/state.ts';
import type { Wake } from './wake.ts';

export interface StandDownParts {
  kept: KeptIdentity;
  state: Pick<SiteState, 'entries' | 'sessions' | 'atomically'>;
  /** The secrets that the centre keeps for this site. */
  secrets: Pick<Secrets, 'desire'>;
  /** Wakes the machines' long polls, so that they end. */
  machines: Wake;
  log: Log;
}

/**
 * What speaks for the centre ends once the centre has revoked this site: its operations, its link, the sessions of machines; the secrets that it kept for the site go. What machines of
 * the site need to go on as they are stays: addresses, and the order to boot their disk. `start` is not called for a site that is revoked already.
 */
export function workUntilRevoked(parts: StandDownParts, start: () => Closable[]): Closable {
  const { kept, log } = parts;
  let work: Closable[] = [];
  let ended: Promise<void> | undefined;
  const end = () => (ended ??= closeAll(work));
  const standDown = () => {
    const { revoked } = kept.current;
    if (revoked === undefined) return;
    forget();
    log.error(
      { revoked },
      'this site was revoked: no machine is booted into a ramdisk any more; join again with a new token',
    );
    dropMachines(parts);
    end().catch((error: unknown) => log.error({ err: error }, 'not all of the work was ended'));
  };
  const forget = kept.onChange(standDown);
  if (kept.current.revoked === undefined) work = start();
  else standDown();
  return {
    close: () => {
      forget();
      return end();
    },
  };
}

function dropMachines({ state, secrets, machines }: StandDownParts): void {
  secrets.desire([]);
  state.atomically(() => {
    for (const { nodeId } of state.entries.all()) state.entries.remove(nodeId);
    state.sessions.endAll();
  });
  machines.wake();
}
