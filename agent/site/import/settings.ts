import { isDomainName } from './domainName.ts';
import type { ImportedOption, LeftOut, OptionValue } from './model.ts';
import { wireHex } from './optionValue.ts';

type Settings = Record<string, unknown>;

/** Options that `config.toml` has a name for; a value of another shape goes by its number. */
const named: Record<number, (value: OptionValue, left: (why: string) => void) => Settings | undefined> = {
  3: (value, left) => {
    if (value.kind !== 'addresses') return undefined;
    if (value.addresses.length > 1) left('a site tells machines one router: the first is taken');
    return { router: value.addresses[0] };
  },
  6: (value) => (value.kind === 'addresses' ? { dns: value.addresses } : undefined),
  15: (value, left) => {
    if (value.kind === 'text' && isDomainName(value.text)) return { domain: value.text };
    left('is no domain name');
    return {};
  },
  42: (value) => (value.kind === 'addresses' ? { ntp: value.addresses } : undefined),
  119: (value, left) => {
    if (value.kind !== 'names') return undefined;
    if (!value.names.every(isDomainName)) left('only its domain names are taken');
    return { search: value.names.filter(isDomainName) };
  },
  121: (value) =>
    value.kind === 'routes'
      ? { routes: value.routes.map(({ destination, router }) => ({ to: destination, via: router })) }
      : undefined,
};

/** Options as the settings of a network or host. */
export function settingsOf(options: readonly ImportedOption[], left: LeftOut[]): Settings {
  const settings: Settings = {};
  const raw: Settings[] = [];
  for (const { number, value } of options) {
    const note = (why: string) =>
      void left.push({ where: `option ${number}`, what: JSON.stringify(value), why });
    const found = named[number]?.(value, note);
    if (found !== undefined) Object.assign(settings, found);
    else raw.push(rawOption(number, value));
  }
  return { ...settings, ...(raw.length > 0 && { options: raw }) };
}

function rawOption(number: number, value: OptionValue): Settings {
  if (value.kind === 'text') return { number, text: value.text };
  if (value.kind === 'addresses') return { number, addresses: value.addresses };
  return { number, hex: wireHex(value) };
}
