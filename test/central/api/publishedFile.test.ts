import type { EventEmitter } from 'node:events';
import fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { publishedRoute, publishFile } from '#central/api/publishedFile.ts';
import { addRoutes } from '#doors/routes.ts';

test('a published file is what was hashed, download after download, and none of them leaves anything behind', async () => {
  const published = await publishFile(import.meta.filename);
  const door = fastify();
  onTestFinished(async () => {
    await door.close();
    await published.close();
  });
  addRoutes(door, [publishedRoute(published)]);
  const handle = published.handle as unknown as EventEmitter;
  const before = handle.listenerCount('close');
  for (let count = 0; count < 20; count++) {
    const { statusCode, rawPayload } = await door.inject(`/bcd/${published.digest}`);
    expect([statusCode, rawPayload.length]).toEqual([200, published.sizeBytes]);
  }
  expect(handle.listenerCount('close')).toBe(before);
});
