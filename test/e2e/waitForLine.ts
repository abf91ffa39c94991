import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { ignore } from '#base/errors.ts';

/** The first line of a growing log that matches. @throws Error with the log when none does in time */
export async function waitForLine(file: string, pattern: RegExp, timeoutMs: number): Promise<string> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const text = (await readFile(file, 'utf8').catch(ignore)) ?? '';
    const line = text.split('\n').find((each) => pattern.test(each));
    if (line !== undefined) return line;
    if (Date.now() > end) throw new Error(`nothing in ${file} matches ${pattern}:\n${text}`);
    await delay(50);
  }
}
