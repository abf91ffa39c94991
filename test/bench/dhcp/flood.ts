import path from 'node:path';
import { runIn } from '#rack/netns.ts';
import type { Wire } from '../wire.ts';

/** DISCOVERs of `distinctMacs` clients from the clients' end of the wire. */
export async function flood({ client }: Wire, distinctMacs: number): Promise<{ seconds: number }> {
  const program = path.join(import.meta.dirname, 'floodProcess.ts');
  const command = [process.execPath, program, client.interfaceName, String(distinctMacs)];
  return JSON.parse(await runIn(client.namespace, command, { timeoutMs: 300_000 }));
}
