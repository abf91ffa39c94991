import { appendFile, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { pcapHeader } from '#bootserver/pcapFile.ts';

interface Asked {
  get<Answer>(path: string): Promise<Answer>;
}

const everyMs = 500;

/** Writes the packets of a machine to a capture file as they come, until `signal` ends it; without one until the process ends. */
export async function capture(agent: Asked, mac: string, file: string, signal?: AbortSignal): Promise<void> {
  await writeFile(file, pcapHeader());
  for (let after = 0; !signal?.aborted; ) {
    const path = `/v1/trace/${encodeURIComponent(mac)}/packets?after=${after}`;
    const { records, last } = await agent.get<{ records: string[]; last: number }>(path);
    if (records.length > 0)
      await appendFile(file, Buffer.concat(records.map((record) => Buffer.from(record, 'base64'))));
    after = last;
    await delay(everyMs);
  }
}
