import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { sweepPartials } from '#rack/os/sweep.ts';

test('removes working folders of builds that were killed, and leaves finished images and running builds', async () => {
  const cache = mkdtempSync(path.join(tmpdir(), 'railhead-os-cache-'));
  try {
    for (const name of ['partial-abc', 'image-abc']) mkdirSync(path.join(cache, name));
    await sweepPartials(cache);
    expect(existsSync(path.join(cache, 'partial-abc'))).toBe(true);
    await sweepPartials(cache, Date.now() + 2 * 60 * 60 * 1000);
    expect(existsSync(path.join(cache, 'partial-abc'))).toBe(false);
    expect(existsSync(path.join(cache, 'image-abc'))).toBe(true);
  } finally {
    rmSync(cache, { recursive: true });
  }
});
