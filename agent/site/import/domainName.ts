import { hostnamePattern } from '../configSchema/networkSettings.ts';

const form = new RegExp(hostnamePattern);

/** Whether a site's configuration takes the text as a host name or domain. */
export function isDomainName(text: string): boolean {
  return form.test(text);
}
