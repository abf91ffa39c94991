import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A machine at the other end of a serial line that is a TCP connection: what it is sent it keeps, what it prints is asked of it. */
export interface SerialMachine {
  port: number;
  print(text: string | Buffer): void;
  /** Everything that was typed. */
  typed(): string;
  /** Resolves once what was typed has this in it. */
  hears(text: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startSerialMachine(): Promise<SerialMachine> {
  const lines = new Set<Socket>();
  let typed = '';
  const waiting = new Set<() => void>();
  const server = createServer((line) => {
    lines.add(line);
    line.on('error', () => {}).once('close', () => lines.delete(line));
    line.on('data', (keys) => {
      typed += keys.toString('latin1');
      for (const look of waiting) look();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    print: (text) => {
      for (const line of lines) line.write(text);
    },
    typed: () => typed,
    hears: (text) =>
      new Promise((resolve) => {
        const look = () => {
          if (!typed.includes(text)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    stop: async () => {
      for (const line of lines) line.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
