import { scriptWord, setting } from './escape.ts';

/** What a machine asks for its own script with: query parameter and the iPXE setting that fills it. */
const parameters = {
  mac: setting('boot-mac'),
  uuid: setting('uuid'),
  serial: setting('serial:uristring'),
  platform: setting('platform'),
  buildarch: setting('buildarch'),
  ip: setting('boot-ip'),
} as const;

/** Where the boot listener at `httpUrl` has the script of the machine that asks; `more` are further parameters. */
export function scriptUrl(httpUrl: string, more: Readonly<Record<string, string>> = {}): string {
  const query = Object.entries({ ...parameters, ...more }).map(([name, value]) => `${name}=${value}`);
  return `${scriptWord(httpUrl)}/ipxe?${query.join('&')}`;
}
