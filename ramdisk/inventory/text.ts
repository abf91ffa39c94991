import { readFile, readlink } from 'node:fs/promises';
import path from 'node:path';
import { ignore } from '#base/errors.ts';

/** A file of sysfs or procfs without its line's end; undefined when it is not there, not readable or empty. */
export async function factOf(file: string): Promise<string | undefined> {
  const text = (await readFile(file, 'utf8').catch(ignore))?.trim().slice(0, 256);
  return text === '' ? undefined : text;
}

/** The last part of what a link of sysfs points to: a driver's name. */
export async function linkName(file: string): Promise<string | undefined> {
  const target = await readlink(file).catch(ignore);
  return target === undefined ? undefined : path.basename(target);
}
