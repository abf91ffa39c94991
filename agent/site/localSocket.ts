import path from 'node:path';
import type { SiteConfig } from './config.ts';

/** Where the agent listens for root and its own user. */
export function localSocket({ admin, stateDirectory }: SiteConfig): string {
  return path.resolve(admin.socket ?? path.join(stateDirectory, 'bcd.sock'));
}
