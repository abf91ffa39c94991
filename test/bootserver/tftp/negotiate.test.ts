import { describe, expect, test } from 'vitest';
import { blockSizeFor } from '#bootserver/tftp/limits.ts';
import { negotiate } from '#bootserver/tftp/negotiate.ts';

const limits = { blockSize: 1468, windowSize: 32 };

function accepted(asked: Record<string, string>, size = 284_672): Record<string, string> {
  return Object.fromEntries(negotiate(new Map(Object.entries(asked)), size, limits).accepted);
}

describe('what is acknowledged', () => {
  test('OVMF’s request', () => {
    expect(accepted({ tsize: '0', blksize: '1468', windowsize: '4' })).toEqual({
      tsize: '284672',
      blksize: '1468',
      windowsize: '4',
    });
  });

  test.each([
    ['65464', '1468'],
    ['1432', '1432'],
    ['8', '8'],
  ])('a block size of %s is answered by %s', (asked, answer) => {
    expect(accepted({ blksize: asked })).toEqual({ blksize: answer });
  });

  test.each([
    ['blksize', '0'],
    ['blksize', '7'],
    ['blksize', '65465'],
    ['blksize', 'abc'],
    ['blksize', '-1'],
    ['blksize', ''],
    ['windowsize', '0'],
    ['windowsize', '65536'],
    ['timeout', '0'],
    ['timeout', '256'],
    ['foo', '1'],
    ['multicast', ''],
    ['__proto__', '1'],
    ['constructor', '1'],
  ])('%s=%j is left out', (name, value) => {
    expect(negotiate(new Map([[name, value]]), 1, limits).accepted.size).toBe(0);
  });

  test('a window is never larger than asked, nor than the cap', () => {
    expect(accepted({ windowsize: '2' })).toEqual({ windowsize: '2' });
    expect(accepted({ windowsize: '65535' })).toEqual({ windowsize: '32' });
  });
});

test('without options a transfer is plain TFTP: 512 bytes, in lock-step', () => {
  expect(negotiate(new Map(), 1, limits)).toEqual({ blockSize: 512, windowSize: 1, accepted: new Map() });
});

test('the client’s time-out is taken in seconds', () => {
  expect(negotiate(new Map([['timeout', '3']]), 1, limits).timeoutMs).toBe(3000);
});

test.each([
  [1500, 1468],
  [9000, 1468],
  [1400, 1368],
])('on an MTU of %i blocks are at most %i bytes', (mtu, blockSize) => {
  expect(blockSizeFor(mtu)).toBe(blockSize);
});
