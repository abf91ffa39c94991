import { startCentral } from '#central/start.ts';
import { testTimes } from './times.ts';

/** A centre as a process of its own, for tests that kill it: `directory templates apiPort agentsPort` as arguments. */
const [directory = '', templates = '', apiPort, agentsPort] = process.argv.slice(2);

const central = await startCentral({
  directory,
  api: { host: '127.0.0.1', port: Number(apiPort) },
  agents: { host: '127.0.0.1', port: Number(agentsPort) },
  names: ['127.0.0.1'],
  userData: { templates },
  times: testTimes,
});
process.stdout.write(`${JSON.stringify({ apiUrl: central.apiUrl, agentsUrl: central.agentsUrl })}\n`);
