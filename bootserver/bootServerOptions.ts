import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Sqlite } from '#base/sqlite.ts';
import type { BootNetwork, HttpsBoot, RelayedNetwork } from './bootNetwork.ts';
import type { BootNetwork6 } from './bootNetwork6.ts';
import type { Reservations } from './dhcp/network.ts';
import type { Dhcp6Network } from './dhcp6/network.ts';
import type { ImageReader } from './http/imageReader.ts';
import type { LastBoot } from './lastBoot.ts';
import type { BootDecision, BootEvent, MachineFacts } from './machine.ts';
import type { PacketTap } from './packetTap.ts';
import type { Sighting } from './sighting.ts';
import type { SyslogListen } from './syslog/server.ts';

export interface BootServerOptions {
  /** The networks that we have an interface on, the main one first. */
  networks: readonly [BootNetwork, ...BootNetwork[]];
  /** Networks behind relay agents, which may ask on any of our interfaces. */
  relayed?: readonly RelayedNetwork[];
  /** IPv6 on networks that we have an interface on, and prefixes behind relay agents. */
  networks6?: readonly BootNetwork6[];
  relayed6?: readonly Dhcp6Network[];
  /** What the site has decided for single machines; strangers get an address of the pool. */
  reservations: Reservations;
  /** Called once per script fetch. */
  decide(machine: MachineFacts): BootDecision | Promise<BootDecision>;
  images: ImageReader;
  /** Folder with the iPXE binaries (`snponly.efi`, `undionly.kpxe`, …); they are read into memory at start. */
  ipxeDirectory: string;
  /** Folder with what the boot ROMs of Raspberry Pis load; without it they find nothing. */
  raspberryPiDirectory?: string;
  /** Folder with shim and GRUB (`shimx64.efi`, `grubx64.efi`, …); without it no machine can be handed them. */
  shimDirectory?: string;
  /** Leases of IPv6, and what was heard of other servers', are kept in tables of this database, named `dhcp…`. */
  database: Sqlite;
  /** The SQLite file of the leases, which a thread of ours alone opens. */
  leaseFile: string;
  timeline(event: BootEvent): void;
  /** Told of each machine that asks for an address. */
  sighted?(sighting: Sighting): void;
  /** Shows the packets of single machines to whoever looks at them. */
  tap?: PacketTap;
  /** The boot of the machine's newest event, of an earlier run or forgotten since. */
  lastBoot?(mac: string): LastBoot | undefined;
  log: Log;
  clock?: Clock;
  /** Default 8080, on each network's address. */
  httpPort?: number;
  https?: HttpsBoot;
  /** Takes the log of installers into the timelines of their machines. */
  syslog?: SyslogListen;
  /** Defaults 67, 547, 69 and 4011; others are for tests. */
  dhcpPort?: number;
  dhcp6Port?: number;
  tftpPort?: number;
  pxePort?: number;
}
