import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideAnswer, parseContentRange, validatorOf } from '#cache/pull/answer.ts';

const resume = { offset: 91, totalBytes: 100, validator: '"v1"' };

describe('an answer to a resume', () => {
  test('is appended when it is a 206 of exactly the asked range and size', () => {
    const answer = { status: 206, contentRange: 'bytes 91-99/100', etag: '"v1"' };
    expect(decideAnswer(answer, resume)).toEqual({ kind: 'take', at: 91, totalBytes: 100 });
  });

  test('with 200 begins anew: the server ignores ranges or the file changed (containerd PR 12291)', () => {
    expect(decideAnswer({ status: 200, contentLength: 100 }, resume)).toEqual({
      kind: 'take',
      at: 0,
      totalBytes: 100,
    });
  });

  test.each([
    ['without Content-Range', {}],
    ['that starts before the asked byte (httrack PR 428)', { contentRange: 'bytes 64-99/100' }],
    ['of another total', { contentRange: 'bytes 91-199/200' }],
    ['of another version', { contentRange: 'bytes 91-99/100', etag: '"v2"' }],
    ['of unknown total', { contentRange: 'bytes 91-99/*' }],
  ])('206 %s is of no use: all is asked again', (_name, facts) => {
    expect(decideAnswer({ status: 206, ...facts }, resume)).toEqual({ kind: 'again' });
  });

  test('416 means whole when the part is as long as the image', () => {
    expect(decideAnswer({ status: 416 }, { ...resume, offset: 100 })).toEqual({ kind: 'whole' });
    expect(decideAnswer({ status: 416 }, resume)).toEqual({ kind: 'again' });
  });
});

test('an answer that is no success is refused with its status', () => {
  expect(decideAnswer({ status: 404 }, { offset: 0 })).toEqual({ kind: 'refuse', cause: 'HTTP 404' });
  expect(decideAnswer({ status: 416 }, { offset: 0 })).toEqual({ kind: 'refuse', cause: 'HTTP 416' });
});

test('only a strong entity tag or a date may condition a range', () => {
  expect(validatorOf({ status: 200, etag: '"a"', lastModified: 'x' })).toBe('"a"');
  expect(validatorOf({ status: 200, etag: 'W/"a"', lastModified: 'x' })).toBe('x');
  expect(validatorOf({ status: 200, etag: '""' })).toBeUndefined();
});

test('a Content-Range of any text is parsed or not, never thrown at', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const range = parseContentRange(text);
      expect(range === undefined || range.start <= range.end).toBe(true);
    }),
  );
  expect(parseContentRange('bytes 5-9/10')).toEqual({ start: 5, end: 9, total: 10 });
});
