import { freeze, parseConfigText, readConfigText } from '../toml.ts';
import { checkConfig } from './configChecks.ts';
import { SiteConfig } from './configSchema/index.ts';

export type { SiteConfig };

/**
 * Reads, checks and freezes a configuration file, with every default filled in.
 * @throws RailheadError INVALID_CONFIG whose details name the `path` and what was `expected`
 */
export async function readConfig(file: string): Promise<SiteConfig> {
  return parseConfig(await readConfigText(file));
}

export function parseConfig(toml: string): SiteConfig {
  const config = parseConfigText(SiteConfig, toml);
  checkConfig(config);
  return freeze(config);
}

/** Bytes of a size such as `50GiB`; the schema has checked its form. */
export function sizeBytes(text: string): number {
  const unit = { MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 }[text.slice(-3)] ?? 1;
  return Number.parseInt(text, 10) * unit;
}
