import { readFile } from 'node:fs/promises';
import { isIPv4 } from 'node:net';
import { parse, TomlError } from 'smol-toml';
import { systemCode } from '#base/errors.ts';
import { durationMs } from '#contract/durations.ts';
import { RailheadError } from '#contract/errors.ts';
import { validate } from '#contract/validate.ts';
import { SiteConfig } from './configSchema.ts';

export type { SiteConfig };

/**
 * Reads, checks and freezes a configuration file, with every default filled in.
 * @throws RailheadError INVALID_CONFIG whose details name the `path` and what was `expected`
 */
export async function readConfig(file: string): Promise<SiteConfig> {
  return parseConfig(await readText(file));
}

export function parseConfig(toml: string): SiteConfig {
  const config = validate(SiteConfig, parseToml(toml), 'INVALID_CONFIG');
  checkNetwork(config.provisioning);
  checkPort('machine.listen', config.machine.listen);
  checkPort('admin.listen', config.admin.listen);
  return freeze(config);
}

/** Bytes of a size such as `50GiB`; the schema has checked its form. */
export function sizeBytes(text: string): number {
  const unit = { MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 }[text.slice(-3)] ?? 1;
  return Number.parseInt(text, 10) * unit;
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const reason = systemCode(error) ?? 'unreadable';
    throw new RailheadError(
      'INVALID_CONFIG',
      `cannot read ${file}: ${reason}`,
      { path: file, reason },
      error,
    );
  }
}

function parseToml(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const { line, column } = error;
    const reason = error.message.split('\n')[0] ?? '';
    throw new RailheadError(
      'INVALID_CONFIG',
      `not TOML at line ${line}: ${reason}`,
      { reason, line, column },
      error,
    );
  }
}

/** What a schema cannot say: addresses lie in the network, the pool is in order, the site is not in its own pool. */
function checkNetwork(network: SiteConfig['provisioning']): void {
  const [own, first, last] = (['address', 'poolStart', 'poolEnd'] as const).map((name) =>
    addressNumber(`provisioning.${name}`, network[name]),
  ) as [number, number, number];
  const hosts = 2 ** (32 - network.prefixLength);
  const subnet = (address: number) => Math.floor(address / hosts);
  if (subnet(first) !== subnet(own))
    refuse('provisioning.poolStart', `must be in the network of ${network.address}/${network.prefixLength}`);
  if (subnet(last) !== subnet(own))
    refuse('provisioning.poolEnd', `must be in the network of ${network.address}/${network.prefixLength}`);
  if (last < first) refuse('provisioning.poolEnd', 'must not be below provisioning.poolStart');
  if (own >= first && own <= last)
    refuse('provisioning.poolStart', `the pool must not hold the site's own address ${network.address}`);
  if (durationMs(network.leaseTime) < 60_000) refuse('provisioning.leaseTime', 'must be 1m or longer');
}

function checkPort(path: string, listen: string | undefined): void {
  if (listen === undefined) return;
  const port = Number(listen.slice(listen.lastIndexOf(':') + 1));
  if (port < 1 || port > 65_535) refuse(path, 'the port must be 1 to 65535');
}

function addressNumber(path: string, text: string): number {
  if (!isIPv4(text)) refuse(path, 'must be an IPv4 address');
  return text.split('.').reduce((number, byte) => number * 256 + Number(byte), 0);
}

function refuse(path: string, expected: string): never {
  throw new RailheadError('INVALID_CONFIG', `${path}: ${expected}`, { path, expected });
}

function freeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
}
