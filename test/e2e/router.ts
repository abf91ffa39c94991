import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openToolbox } from '#base/debian/toolbox.ts';
import type { Closable } from '#base/shutdown.ts';
import { startProcess } from '#rack/line/managedProcess.ts';
import { provisioningBridge } from '#rack/network.ts';
import type { Rack } from '#rack/rack.ts';

const cacheDirectory = path.resolve(import.meta.dirname, '../../.cache/debian');

/** What a router of the provisioning network says: the prefix is on the link, addresses come by DHCPv6. */
const configuration = `interface ${provisioningBridge} {
  AdvSendAdvert on;
  AdvManagedFlag on;
  AdvOtherConfigFlag on;
  MinRtrAdvInterval 3;
  MaxRtrAdvInterval 10;
  prefix fd77::/64 { AdvOnLink on; AdvAutonomous off; };
};
`;

/** Starts what sends router advertisements on the provisioning network, radvd of Debian 13: without them iPXE waits, and nothing says what is on the link. */
export async function startRouter(rack: Rack, directory: string): Promise<Closable> {
  await mkdir(directory, { recursive: true });
  const file = path.join(directory, 'radvd.conf');
  await writeFile(file, configuration);
  const { command } = await openToolbox(['radvd'], { cacheDirectory });
  const files = ['-C', file, '-p', path.join(directory, 'pid'), '-m', 'stderr', '-n'];
  const [program, args] = command('usr/sbin/radvd', files);
  const router = startProcess({
    namespace: rack.namespaces.site,
    command: [program, ...args],
    logFile: path.join(directory, 'radvd.log'),
  });
  return { close: () => router.stop() };
}
