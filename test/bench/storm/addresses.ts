import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openTransferSocket } from '#base/udp/transferSocket.ts';

/** Gives this namespace's interface the addresses that its machines were leased. */
export class Addresses {
  readonly #ip: ChildProcess;
  readonly #interfaceName: string;
  readonly #given = new Set<string>();

  constructor(interfaceName: string) {
    this.#interfaceName = interfaceName;
    this.#ip = spawn('ip', ['-force', '-batch', '-'], { stdio: ['pipe', 'ignore', 'ignore'] });
  }

  /** Resolves when sockets can be bound to the address. */
  async add(address: string): Promise<void> {
    if (this.#given.has(address)) return;
    this.#given.add(address);
    this.#ip.stdin?.write(`addr add ${address}/16 dev ${this.#interfaceName}\n`);
    while (!isHere(address)) await sleep(5);
  }

  close(): void {
    this.#ip.stdin?.end();
  }
}

function isHere(address: string): boolean {
  try {
    closeSync(openTransferSocket(address));
    return true;
  } catch {
    return false;
  }
}
