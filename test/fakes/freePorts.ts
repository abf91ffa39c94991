import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * TCP ports of the loopback interface that are free and stay so: below those that the kernel gives to connections, of which one may
 * otherwise be taken when a server starts a minute later.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(20_000, 32_000);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

/** One of them. */
export async function freePort(): Promise<number> {
  return (await freePorts(1))[0]!;
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
