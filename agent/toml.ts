import { readFile } from 'node:fs/promises';
import { parse, TomlError } from 'smol-toml';
import type { Static, TSchema } from 'typebox';
import { systemCode } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';
import { validate } from '#contract/validate.ts';

/** @throws RailheadError INVALID_CONFIG, whose cause is the system's error, when `file` cannot be read */
export async function readConfigText(file: string): Promise<string> {
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

/**
 * A configuration as its schema says, with every default filled in.
 * @throws RailheadError INVALID_CONFIG whose details name the `path` and what was `expected`
 */
export function parseConfigText<Schema extends TSchema>(schema: Schema, toml: string): Static<Schema> {
  return validate(schema, parseToml(toml), 'INVALID_CONFIG');
}

/** Nothing changes a configuration once it was read. */
export function freeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
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
