import assert from 'node:assert/strict';
import { decideAnswer } from '#cache/pull/answer.ts';
import { judge } from '#ramdisk/stream/answer.ts';
import { text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

/** Status, Content-Range, Content-Length, ETag, Retry-After and body of an image's source, a line each: as the cache and as the ramdisk take it. */
export const target: FuzzTarget = {
  seeds: [
    '200\n\n5000\n"a"\n\n',
    '206\nbytes 1000-4999/5000\n4000\n"a"\n\n',
    '206\nbytes 0-9/*\n10\nW/"a"\n\n',
    '416\nbytes */1000\n\n\n\n',
    '503\n\n\n\nWed, 21 Oct 2026 07:28:00 GMT\n{"error":{"code":"UNAVAILABLE","message":"wait"}}',
    '502\n\n\n\n120\n{"error":{"code":"DRIVER_ERROR","message":"m","details":{"reason":"r"}}}',
    '206\nbytes 9-1/3\n-1\n""\n-5\nnull',
  ].map(text),
  longest: 16_384,
  run(input) {
    const [status = '', contentRange, contentLength, etag, retryAfter, body = ''] = input
      .toString('latin1')
      .split('\n');
    const code = Number.parseInt(status, 10) || 0;
    for (const offset of [0, 1000]) {
      const taken = decideAnswer(
        { status: code, ...(contentRange && { contentRange }), ...(etag && { etag }) },
        { offset, totalBytes: 5000 },
      );
      assert(taken.kind !== 'take' || taken.at === 0 || taken.at === offset);
      const headers = {
        'content-range': contentRange,
        'content-length': contentLength,
        etag,
        'retry-after': retryAfter,
      };
      const asked = {
        place: 'site' as const,
        url: 'http://10.0.0.1/x?secret',
        offset,
        totalBytes: 5000,
        etag: '"a"',
        now: 0,
      };
      const verdict = judge({ status: code, headers, text: body }, asked);
      assert(verdict.kind !== 'take' || (verdict.skip >= 0 && verdict.skip <= offset));
      assert(verdict.kind !== 'wait' || (verdict.ms >= 100 && verdict.ms <= 30_000));
    }
  },
};
