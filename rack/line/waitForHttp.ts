import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { RailheadError } from '#contract/errors.ts';

/** Asks until somebody answers there, whatever the status; a program that starts has no other way to say so from its namespace. */
export async function waitForHttp(url: string, timeoutMs: number, signal?: AbortSignal): Promise<void> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    try {
      const { body } = await request(url, { headersTimeout: 2_000 });
      await body.dump();
      return;
    } catch (cause) {
      if (Date.now() > end)
        throw new RailheadError('UNAVAILABLE', `nobody answers at ${url}`, { url, timeoutMs }, cause);
    }
    await delay(100);
  }
}
