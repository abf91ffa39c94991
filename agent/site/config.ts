import { readFile } from 'node:fs/promises';
import { parse, TomlError } from 'smol-toml';
import { systemCode } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';
import { validate } from '#contract/validate.ts';
import { checkConfig } from './configChecks.ts';
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
  checkConfig(config);
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

function freeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
}
