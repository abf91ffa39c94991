import { describe, expect, test } from 'vitest';
import { blockSizeFor } from '#bootserver/tftp/limits.ts';
import { negotiate } from '#bootserver/tftp/negotiate.ts';

const limits = { blockSize: 1468, windowSize: 32 };

function accepted(asked: Record<string, string>, size = 284_672): Record<string, string> {
  return Object.fromEntries(negotiate(new Map(Object.entries(asked)), size, limits).accepted);
}

// case 40
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
  const plain = { blockSize: 512, windowSize: 1, wrapsTo: 0, accepted: new Map() };
  expect(negotiate(new Map(), 1, limits)).toEqual(plain);
});

test('without a block size it is 512 even where less fits: a shorter block would be the end of the file', () => {
  expect(negotiate(new Map([['tsize', '0']]), 1, { blockSize: 400, windowSize: 1 }).blockSize).toBe(512);
});

test('what follows block 65,535 is what the client asks for, else what a quirk says, else 0', () => {
  const wrapsTo = (asked: Record<string, string>, more: { wrapsTo?: 0 | 1 } = {}) =>
    negotiate(new Map(Object.entries(asked)), 1, { ...limits, ...more }).wrapsTo;
  expect([wrapsTo({}), wrapsTo({ rollover: '1' }), wrapsTo({ rollover: '2' })]).toEqual([0, 1, 0]);
  expect([wrapsTo({}, { wrapsTo: 1 }), wrapsTo({ rollover: '0' }, { wrapsTo: 1 })]).toEqual([1, 0]);
});

test('the client’s time-out is taken in seconds', () => {
  expect(negotiate(new Map([['timeout', '3']]), 1, limits).timeoutMs).toBe(3000);
});

// case 43
test.each([
  [1500, 1468, 1448],
  [9000, 1468, 1468],
  [1400, 1368, 1348],
])('on an MTU of %i blocks are at most %i bytes, over IPv6 %i', (mtu, overIpv4, overIpv6) => {
  expect(blockSizeFor(mtu)).toBe(overIpv4);
  expect(blockSizeFor(mtu, 'ipv6')).toBe(overIpv6);
});
