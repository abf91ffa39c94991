import type { ServerResponse } from 'node:http';
import { clientKey } from '#doors/clientKey.ts';

interface Transfer {
  client: string;
  response: ServerResponse;
}

interface Waiting extends Transfer {
  begin(): void;
}

/** How long a client that is sent nothing waits before another one, which is sent several bodies, loses its newest. */
const defaultPatienceMs = 5_000;

/**
 * Lets so many bodies be sent at a time. The others wait; a free place goes to the client that has the fewest, in order of their coming. A client
 * that has none and waits longer than `patienceMs` gets the place of one that has most, if that has several: who is cut off resumes by a range.
 */
export class Transfers {
  readonly #most: number;
  readonly #patienceMs: number;
  readonly #running = new Set<Transfer>();
  readonly #waiting: Waiting[] = [];

  constructor(most: number, patienceMs = defaultPatienceMs) {
    this.#most = most;
    this.#patienceMs = patienceMs;
  }

  /** Does `work` when its turn comes. @throws what it fails with, or Error when the client leaves before its turn */
  async run(response: ServerResponse, work: () => Promise<void>): Promise<void> {
    const transfer = { client: clientKey(response.socket?.remoteAddress), response };
    if (this.#running.size >= this.#most) await this.#turn(transfer);
    this.#running.add(transfer);
    try {
      await work();
    } finally {
      this.#running.delete(transfer);
      this.#next();
    }
  }

  #turn(transfer: Transfer): Promise<void> {
    return new Promise((resolve, reject) => {
      const impatience = setInterval(() => this.#makeRoom(transfer.client), this.#patienceMs);
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        clearInterval(impatience);
        reject(new Error('the client left before its turn'));
      };
      const begin = () => {
        transfer.response.off('close', leave);
        clearInterval(impatience);
        resolve();
      };
      const waiting = { ...transfer, begin };
      this.#waiting.push(waiting);
      transfer.response.once('close', leave);
    });
  }

  #next(): void {
    const counts = this.#counts();
    const fewest = Math.min(...this.#waiting.map(({ client }) => counts.get(client) ?? 0));
    const at = this.#waiting.findIndex(({ client }) => (counts.get(client) ?? 0) === fewest);
    this.#waiting.splice(at, at === -1 ? 0 : 1)[0]?.begin();
  }

  #makeRoom(client: string): void {
    const counts = this.#counts();
    const most = Math.max(0, ...counts.values());
    if (counts.has(client) || most < 2) return;
    const newest = [...this.#running].findLast((transfer) => counts.get(transfer.client) === most);
    newest?.response.destroy(new Error('another client waited, and this one is sent several things'));
  }

  #counts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { client } of this.#running) counts.set(client, (counts.get(client) ?? 0) + 1);
    return counts;
  }
}
