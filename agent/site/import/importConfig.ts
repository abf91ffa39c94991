import { stringify } from 'smol-toml';
import { hasCode, RailheadError } from '#contract/errors.ts';
import { parseConfig } from '../config.ts';
import { readDnsmasq } from './dnsmasq.ts';
import { readIsc } from './isc/read.ts';
import { readKea } from './kea.ts';
import type { Imported, LeftOut } from './model.ts';
import { provisioningOf, type SitePlace } from './provisioning.ts';

const readers = { dnsmasq: readDnsmasq, isc: readIsc, kea: readKea } satisfies Record<
  string,
  (text: string) => Imported
>;
export type ImportFormat = keyof typeof readers;
export const importFormats = Object.keys(readers) as ImportFormat[];

/**
 * The `config.toml` that does what another DHCP server's file said, checked as the site checks it at its start, and what it does not
 * say.
 * @throws RailheadError INVALID_INPUT
 */
export function importConfig(
  text: string,
  place: SitePlace,
  format: ImportFormat = formatOf(text),
): { toml: string; left: LeftOut[] } {
  const { provisioning, left } = provisioningOf(readers[format](text), place);
  const settings = stringify({ provisioning });
  check(settings);
  return {
    toml: [`# Made of a configuration of ${format}.`, ...left.map(comment), '', settings].join('\n'),
    left,
  };
}

export function formatOf(text: string): ImportFormat {
  if (/"Dhcp4"\s*:/.test(text)) return 'kea';
  return /^\s*(subnet|shared-network|host|group|pool|class)\b[^\n=]*\{/m.test(text) ? 'isc' : 'dnsmasq';
}

/** One line, whatever stood in the file. */
function comment({ where, what, why }: LeftOut): string {
  return `# Not taken over: ${where}: ${what}: ${why}`.replaceAll(/\p{Cc}/gu, ' ');
}

function check(toml: string): void {
  try {
    parseConfig(toml);
  } catch (error) {
    if (!hasCode(error, 'INVALID_CONFIG')) throw error;
    const message = `a site cannot have these settings: ${error.message}; mend the file and import again`;
    throw new RailheadError('INVALID_INPUT', message, error.details, error);
  }
}
