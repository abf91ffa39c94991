import { loopbackCertificate, type SimulatedBmc, startSimulatedBmc } from '#rack/bmc/simulatedBmc.ts';
import { serveCommands } from '../join/worker.ts';

/** The BMCs, in a process of their own: `bmcsProcess.ts DIRECTORY`. */
const [directory = ''] = process.argv.slice(2);
const bmcs: SimulatedBmc[] = [];

interface Started {
  bmcs: { address: string; username: string; password: string }[];
}

serveCommands({
  start: async ({ count, delayMs }: { count: number; delayMs: number }): Promise<Started> => {
    const tls = await loopbackCertificate();
    const started = [];
    for (let at = 0; at < count; at++) started.push(await startSimulatedBmc({ directory, tls, delayMs }));
    bmcs.push(...started);
    return {
      bmcs: started.map(({ address, record: { bmc } }) => ({
        address,
        username: bmc.username,
        password: bmc.password,
      })),
    };
  },
  count: async () => ({
    requests: bmcs.reduce((sum, bmc) => sum + bmc.requests.length, 0),
    mostSessions: Math.max(...bmcs.map(({ sessions }) => sessions.most)),
    sessionsLeft: bmcs.reduce((sum, { sessions }) => sum + sessions.ids().length, 0),
  }),
  /** What the last one was asked since it was asked this. */
  takeRequests: async () => ({ requests: bmcs.at(-1)?.requests.splice(0) ?? [] }),
});
