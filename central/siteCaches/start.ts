import type { Closable } from '#base/shutdown.ts';
import type { CentralContext } from '../context.ts';
import { startReconcilers, wakeReconcilers } from '../reconcilers.ts';
import { queueEverySite, reconcileSiteCache, siteCacheReconciler } from './inventory.ts';
import { startInventoryPolling } from './polling.ts';

/** How often silent agents are looked for, in milliseconds. */
const lookEveryMs = 3_600_000;

/** Keeps the image locations of all sites derived from what their agents report, until it is closed. */
export async function startSiteCaches(context: CentralContext): Promise<Closable> {
  await queueEverySite(context.store);
  const reconcilers = startReconcilers(context, { [siteCacheReconciler]: reconcileSiteCache });
  const polling = startInventoryPolling(context);
  const timer = setInterval(() => {
    queueEverySite(context.store)
      .then(() => wakeReconcilers(context.signals))
      .catch((error) => context.log.error({ err: error }, 'silent agents were not looked for'));
  }, lookEveryMs).unref();
  return {
    close: async () => {
      clearInterval(timer);
      await polling.close();
      await reconcilers.close();
    },
  };
}
