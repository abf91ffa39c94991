import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { keysOfThisBoot, thumbprintOf } from '#ramdisk/join/keys.ts';
import type { Trust } from '#ramdisk/join/trust.ts';
import { openJournal } from '#ramdisk/operations/journal.ts';
import { type RunnerParts, runOperations } from '#ramdisk/operations/runner.ts';
import { connectSite } from '#ramdisk/site/client.ts';
import { openSession } from '#ramdisk/site/session.ts';

/** The real ramdisk agent, in this process. */
export interface Machine {
  thumbprint: string;
  /** What it said on its console. */
  said: string[];
  /** Resolves with the first line that matches, said already or later. */
  says(pattern: RegExp): Promise<string>;
  stop(): Promise<void>;
}

export interface MachineOptions {
  url: string;
  trust: Trust;
  mac: string;
  /** Its boot token. */
  token?: string;
  /** Told of each line that it says. */
  onSay?(text: string): void;
  runStep: RunnerParts['runStep'];
  /** Its keys and journal. */
  directory: string;
}

export async function startMachine(options: MachineOptions): Promise<Machine> {
  const { url, trust, mac, token = 'boot-token', runStep, directory } = options;
  const keys = await keysOfThisBoot(directory);
  const stopping = new AbortController();
  const { signal } = stopping;
  const said: string[] = [];
  const lines = new EventEmitter();
  const say = (text: string) => {
    said.push(text);
    options.onSay?.(text);
    lines.emit('line');
  };
  const client = connectSite(url, trust.ca);
  const running = (async () => {
    const facts = { bootId: randomUUID(), macs: [mac], trust: 'network' as const, uuid: randomUUID() };
    const talk = { client, keys, trust, facts, mac, say, signal };
    const session = await openSession({ ...talk, keepTime: async () => {}, token: async () => token });
    say(`joined site ${session.joined.siteId} as node ${session.joined.nodeId}`);
    const journal = await openJournal(directory);
    await runOperations({ session, trust, keys, journal, say, signal, runStep });
  })().catch(() => {});
  return {
    thumbprint: thumbprintOf(keys),
    said,
    says: async (pattern) => {
      for (;;) {
        const line = said.find((each) => pattern.test(each));
        if (line !== undefined) return line;
        await once(lines, 'line');
      }
    },
    stop: async () => {
      stopping.abort(new Error('stopped'));
      await running;
      await client.close();
    },
  };
}
