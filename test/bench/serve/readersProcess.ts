import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * `node readersProcess.ts URL READERS BYTES`: that many machines at a time, each from an address of its own, read the first BYTES of what is
 * there and throw them away; one line of JSON says how fast, and how long they waited for the next piece.
 */
const [text = '', count = '1', most = '0'] = process.argv.slice(2);
const url = new URL(text);
const bytes = Number(most);
const silences: number[] = [];

function read(reader: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let left: number | undefined;
  let heardAt = performance.now();
  const socket = connect({
    host: url.hostname,
    port: Number(url.port),
    localAddress: `127.0.1.${reader + 1}`,
    onread: {
      buffer: Buffer.allocUnsafe(1024 * 1024),
      callback: (length, buffer) => {
        const now = performance.now();
        silences.push(now - heardAt);
        heardAt = now;
        left = (left ?? expected(buffer as Buffer, length)) - length;
        if (left <= 0) {
          socket.destroy();
          resolve();
        }
        return true;
      },
    },
  });
  socket.once('error', reject);
  socket.once('close', () => reject(new Error(`the server ended with ${left} bytes to come`)));
  socket.write(`GET ${url.pathname} HTTP/1.1\r\nHost: x\r\nRange: bytes=0-${bytes - 1}\r\n\r\n`);
  return promise;
}

/** All bytes that come, headers included. */
function expected(start: Buffer, length: number): number {
  const head = start.toString('latin1', 0, Math.min(length, 4096));
  const end = head.indexOf('\r\n\r\n');
  if (!head.startsWith('HTTP/1.1 206') || end < 0) throw new Error(head.slice(0, 100));
  return end + 4 + bytes;
}

async function untilServed(): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const answer = await fetch(url, { method: 'HEAD' }).catch(() => undefined);
    if (answer?.status === 200) return;
    await sleep(100);
  }
  throw new Error(`${text} is not served`);
}

await untilServed();
const begun = performance.now();
await Promise.all(Array.from({ length: Number(count) }, (_, reader) => read(reader)));
const seconds = (performance.now() - begun) / 1000;
const sorted = silences.toSorted((a, b) => a - b);
const p99StallMs = Math.round((sorted[Math.floor(sorted.length * 0.99)] ?? 0) * 10) / 10;
console.log(JSON.stringify({ seconds, bytes: bytes * Number(count), p99StallMs }));
