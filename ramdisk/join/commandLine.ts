import { canonicalMac } from '#contract/bootEntry.ts';

/** What the boot loader may tell the ramdisk; every other word of the command line is ignored. */
export interface BootHints {
  /** Base URL of the site's machine listener. */
  site?: string;
  token?: string;
  mac?: string;
}

const tokenPattern = /^[A-Za-z0-9._~-]{1,512}$/;

/**
 * The allow-listed words of a kernel command line (`railhead.site=`, `railhead.token=`, `railhead.mac=`; `railhead.vlan=` is read where the
 * network comes up, `/usr/lib/railhead/network`). Whoever answers
 * DHCP can write this line, so a value that does not have the expected shape is dropped; of a word written twice the first counts.
 */
export function readCommandLine(text: string): BootHints {
  const words = wordsOf(text);
  const site = httpsOrigin(words.get('railhead.site'));
  const token = words.get('railhead.token');
  const mac = canonicalMac(words.get('railhead.mac') ?? '');
  return {
    ...(site !== undefined && { site }),
    ...(token !== undefined && tokenPattern.test(token) && { token }),
    ...(mac !== undefined && { mac }),
  };
}

/** `https://host[:port]` of a URL; undefined for anything that is not an https URL. */
export function httpsOrigin(text: string | undefined): string | undefined {
  const url = text === undefined ? null : URL.parse(text);
  return url?.protocol === 'https:' && url.host !== '' ? url.origin : undefined;
}

function wordsOf(text: string): Map<string, string> {
  const words = new Map<string, string>();
  for (const word of text.split(/\s+/)) {
    const equals = word.indexOf('=');
    const name = word.slice(0, equals);
    if (equals > 0 && !words.has(name)) words.set(name, word.slice(equals + 1));
  }
  return words;
}
