import { readFile } from 'node:fs/promises';
import { RailheadError } from '#contract/errors.ts';

/** @throws RailheadError INVALID_INPUT when the file is not JSON; the system's error when it cannot be read */
export async function readJson(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = (error as Error).message;
    throw new RailheadError('INVALID_INPUT', `${file} is not JSON: ${why}`, { path: file }, error);
  }
}
