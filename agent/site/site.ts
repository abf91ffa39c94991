import { RailheadError } from '#contract/errors.ts';
import type { SiteConfig } from './config.ts';

export async function startSite(
  config: SiteConfig,
  _environment: NodeJS.ProcessEnv,
): Promise<{ close(): Promise<void> }> {
  throw new RailheadError('UNSUPPORTED', `the site agent in ${config.stateDirectory} is not built yet`);
}
