import { startCentral } from '#central/start.ts';
import { residentMiB, serveCommands } from './worker.ts';

/** The centre as it is, but for the rate of one address: here all sites have the same. */
const [directory = ''] = process.argv.slice(2);
const unlimited = { perSecond: 1e9, burst: 1e9 };
const central = await startCentral({
  directory,
  api: { host: '127.0.0.1', port: 0 },
  agents: { host: '127.0.0.1', port: 0 },
  names: ['127.0.0.1'],
  rates: { agentsAddress: unlimited },
});

serveCommands({
  url: async () => ({ url: central.agentsUrl }),
  memory: residentMiB,
});
