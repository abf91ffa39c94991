import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freePorts } from './freePorts.ts';

/** The configuration of a site on the loopback interface, for `stringify` of smol-toml, and where its doors then are. */
export interface LoopbackSettings {
  config: {
    stateDirectory: string;
    provisioning: object;
    boot: { httpPort: number; dhcpPort: number; tftpPort: number; ipxeDirectory: string };
    machine: { listen: string };
    admin: { listen: string };
    bmc: { events: { listen: string } };
  };
  bootUrl: string;
  machineUrl: string;
  adminUrl: string;
  /** Where BMCs post their events. */
  hookUrl: string;
}

/** Of a site whose files are in `directory`: its state in `state`, and what passes for iPXE in `ipxe`, which is made. */
export async function loopbackSettings(directory: string): Promise<LoopbackSettings> {
  const ipxeDirectory = path.join(directory, 'ipxe');
  await fakeIpxe(ipxeDirectory);
  const [http = 0, machine = 0, admin = 0, dhcp = 0, tftp = 0, hook = 0] = await freePorts(6);
  return {
    config: {
      stateDirectory: path.join(directory, 'state'),
      provisioning: {
        ...{ interface: 'lo', address: '127.0.0.1', prefixLength: 8 },
        ...{ poolStart: '127.77.0.10', poolEnd: '127.77.0.99' },
      },
      boot: { httpPort: http, dhcpPort: dhcp, tftpPort: tftp, ipxeDirectory },
      machine: { listen: `127.0.0.1:${machine}` },
      admin: { listen: `127.0.0.1:${admin}` },
      bmc: { events: { listen: `127.0.0.1:${hook}` } },
    },
    bootUrl: `http://127.0.0.1:${http}`,
    machineUrl: `https://127.0.0.1:${machine}`,
    adminUrl: `http://127.0.0.1:${admin}`,
    hookUrl: `https://127.0.0.1:${hook}`,
  };
}

/** Files of iPXE's names: a site does not start without them. */
export async function fakeIpxe(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const name of ['snponly.efi', 'undionly.kpxe'])
    await writeFile(path.join(directory, name), 'not iPXE');
}
