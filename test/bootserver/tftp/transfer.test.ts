import { assert, integer, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { negotiate } from '#bootserver/tftp/negotiate.ts';
import { type Step, Transfer } from '#bootserver/tftp/transfer.ts';
import { content, describe as said } from './samples.ts';

const limits = { blockSize: 1468, windowSize: 64 };

function transferOf(bytes: Buffer, options: Record<string, string> = {}): Transfer {
  return new Transfer(bytes, negotiate(new Map(Object.entries(options)), bytes.length, limits));
}

const words = (step: Step) => step.send.map(said);

// case 44
describe('in lock-step', () => {
  test('a file goes block by block, and a last short block ends it', () => {
    const transfer = transferOf(content(700));
    expect(words(transfer.start(0))).toEqual(['DATA 1']);
    expect(words(transfer.acknowledged(1, 1))).toEqual(['DATA 2']);
    expect(transfer.acknowledged(2, 2)).toEqual({ send: [], outcome: 'complete' });
  });

  test('a file that fills its last block ends with an empty one', () => {
    const transfer = transferOf(content(512));
    transfer.start(0);
    const step = transfer.acknowledged(1, 1);
    expect(step.send[0]?.toString('hex')).toBe('00030002');
    expect(transfer.acknowledged(2, 2).outcome).toBe('complete');
  });

  test('an empty file is one empty block', () => {
    expect(transferOf(Buffer.alloc(0)).start(0).send[0]?.toString('hex')).toBe('00030001');
  });

  test('every ACK sent twice does not double the data', () => {
    const transfer = transferOf(content(512 * 20));
    const sent = words(transfer.start(0));
    for (let block = 1; block <= 20; block++) {
      sent.push(...words(transfer.acknowledged(block, block)), ...words(transfer.acknowledged(block, block)));
    }
    expect(sent).toEqual(Array.from({ length: 21 }, (_, index) => `DATA ${index + 1}`));
  });

  test('an ACK of the past or the future is ignored', () => {
    const transfer = transferOf(content(5000));
    transfer.start(0);
    transfer.acknowledged(1, 1);
    expect(words(transfer.acknowledged(0, 2))).toEqual([]);
    expect(words(transfer.acknowledged(9, 2))).toEqual([]);
    expect(words(transfer.acknowledged(65_535, 2))).toEqual([]);
  });

  test('the timer sends the last block again, ever later, and then gives up', () => {
    const transfer = transferOf(content(5000));
    transfer.start(0);
    const waits: number[] = [];
    let step = transfer.timedOut();
    while (step.outcome === 'running') {
      expect(words(step)).toEqual(['DATA 1']);
      waits.push(transfer.timeoutMs);
      step = transfer.timedOut();
    }
    expect(step.outcome).toBe('abandoned');
    expect(waits).toEqual([1000, 2000, 4000, 8000, 8000, 8000]);
  });

  test('a client that leaves without acknowledging the last block has it all the same', () => {
    const transfer = transferOf(content(600));
    transfer.start(0);
    transfer.acknowledged(1, 1);
    let step = transfer.timedOut();
    while (step.outcome === 'running') step = transfer.timedOut();
    expect(step.outcome).toBe('complete');
  });
});

describe('with options', () => {
  test('the OACK comes first, data after ACK 0', () => {
    const transfer = transferOf(content(100), { blksize: '1024', tsize: '0' });
    expect(words(transfer.start(0))).toEqual(['OACK blksize 1024 tsize 100']);
    expect(words(transfer.acknowledged(1, 1))).toEqual([]);
    expect(words(transfer.acknowledged(0, 1))).toEqual(['DATA 1']);
  });

  test('a lost OACK is sent again by the timer, and for the same request', () => {
    const transfer = transferOf(content(100), { tsize: '0' });
    transfer.start(0);
    expect(words(transfer.timedOut())).toEqual(['OACK tsize 100']);
    expect(words(transfer.requestedAgain())).toEqual(['OACK tsize 100']);
    transfer.acknowledged(0, 1);
    expect(words(transfer.requestedAgain())).toEqual([]);
  });

  test('the client’s time-out bounds the waits, and does not lengthen them', () => {
    const transfer = transferOf(content(100), { timeout: '1' });
    transfer.start(0);
    expect(transfer.timeoutMs).toBe(500);
    transfer.timedOut();
    transfer.timedOut();
    expect(transfer.timeoutMs).toBe(1000);
  });
});

describe('with a window', () => {
  function windowed(): Transfer {
    const transfer = transferOf(content(512 * 40), { windowsize: '16', blksize: '512' });
    transfer.start(0);
    transfer.acknowledged(0, 1);
    return transfer;
  }

  test('16 blocks go out for one ACK', () => {
    expect(words(windowed().acknowledged(16, 2))).toEqual(
      Array.from({ length: 16 }, (_, index) => `DATA ${index + 17}`),
    );
  });

  test('an ACK short of the window’s end begins again after it, once', () => {
    const transfer = windowed();
    transfer.acknowledged(16, 2);
    expect(words(transfer.acknowledged(26, 3))[0]).toBe('DATA 27');
    expect(words(transfer.acknowledged(26, 3))).toEqual([]);
    expect(words(transfer.acknowledged(26, 3))).toEqual([]);
  });

  test('a window that arrived twice does not double the one after it', () => {
    const transfer = windowed();
    transfer.acknowledged(16, 11);
    expect(words(transfer.acknowledged(16, 12))).toEqual([]);
    expect(words(transfer.acknowledged(32, 21))[0]).toBe('DATA 33');
  });

  test('when the first block of a window is lost, the repeated ACK brings it, once', () => {
    const transfer = windowed();
    transfer.acknowledged(16, 2);
    expect(words(transfer.acknowledged(16, 3))[0]).toBe('DATA 17');
    expect(words(transfer.acknowledged(16, 3))).toEqual([]);
    expect(words(transfer.timedOut())[0]).toBe('DATA 17');
  });
});

test('waits follow the round trip and its variation, between 10 ms and 8 s', () => {
  const transfer = transferOf(content(5000));
  transfer.start(0);
  expect(transfer.timeoutMs).toBe(500);
  transfer.acknowledged(1, 2);
  expect(transfer.timeoutMs).toBe(10);
  transfer.acknowledged(2, 502);
  const [roundTrip, variation] = [2 + 498 / 8, 1 + (498 - 1) / 4];
  expect(transfer.timeoutMs).toBeCloseTo(roundTrip + 4 * variation);
});

test('a doubled wait stays until a round trip was timed in which nothing was sent twice', () => {
  const transfer = transferOf(content(5000));
  transfer.start(0);
  transfer.timedOut();
  transfer.acknowledged(1, 600);
  expect(transfer.timeoutMs).toBe(1000);
  transfer.acknowledged(2, 620);
  expect(transfer.timeoutMs).toBe(60);
});

test('a file of more than 65,536 blocks arrives whole', () => {
  const bytes = content(65_536 * 8 + 4);
  expect(download(bytes, { blksize: '8', windowsize: '64' }, () => false)).toEqual(bytes);
});

test('whatever is lost on the way, what arrives is the file', () => {
  assert(
    property(
      integer(),
      integer({ min: 1, max: 20 }),
      integer({ min: 0, max: 3000 }),
      (seed, window, size) => {
        const bytes = content(size);
        const options = { blksize: '64', windowsize: String(window) };
        expect(download(bytes, options, lossOf(seed))).toEqual(bytes);
      },
    ),
  );
});

/** One in seven is lost, by a linear congruential generator; the first exchange is spared, so that nobody gives up before it. */
function lossOf(seed: number): () => boolean {
  let state = seed >>> 0;
  let turn = 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return turn++ > 3 && state % 7000 < 1000;
  };
}

/** A client as RFC 7440 §4 describes it, over a network that loses what `isLost` says. */
function download(bytes: Buffer, options: Record<string, string>, isLost: () => boolean): Buffer {
  const transfer = transferOf(bytes, options);
  const blockSize = Number(options.blksize);
  const received: Buffer[] = [];
  let step = transfer.start(0);
  let acks: number[] = [];
  for (let turns = 0; step.outcome === 'running' && turns < 200_000; turns++) {
    const arrived = step.send.filter(() => !isLost());
    const first = arrived[0];
    if (first?.[1] === 6) acks.push(0);
    for (const datagram of arrived.filter((one) => one[1] === 3)) {
      if (datagram.readUInt16BE(2) === ((received.length + 1) & 0xffff)) received.push(datagram.subarray(4));
    }
    if (arrived.some((one) => one[1] === 3)) acks.push(received.length & 0xffff);
    const next = acks.shift();
    step = next === undefined || isLost() ? transfer.timedOut() : transfer.acknowledged(next, turns);
    if (step.send.length === 0 && step.outcome === 'running' && acks.length === 0) step = transfer.timedOut();
    if (isComplete(received, blockSize)) acks = [received.length & 0xffff];
  }
  return Buffer.concat(received);
}

function isComplete(received: Buffer[], blockSize: number): boolean {
  return received.length > 0 && received.at(-1)!.length < blockSize;
}
