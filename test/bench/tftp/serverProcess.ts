import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { systemClock } from '#base/clock.ts';
import { silentLog } from '#base/log.ts';
import { stopRequest } from '#base/shutdown.ts';
import { transferLimits } from '#bootserver/tftp/limits.ts';
import { startTftpServer } from '#bootserver/tftp/server.ts';

/** `node serverProcess.ts ADDRESS INTERFACE FILE`: our TFTP server as the boot server starts it, until it is told to stop. */
const [address = '', interfaceName = '', file = ''] = process.argv.slice(2);

const server = await startTftpServer({
  address,
  port: 69,
  files: new Map([[path.basename(file), await readFile(file)]]),
  limits: await transferLimits(interfaceName),
  report: () => {},
  log: silentLog(),
  clock: systemClock,
});
stopRequest().addEventListener('abort', () => void server.close());
