import Type from 'typebox';
import { Vlan } from '#contract/bootEntry.ts';
import { BootQuirks } from '#contract/bootQuirks.ts';
import { ConsoleRecording } from '#contract/consoleRecording.ts';
import { Digest, TenantId } from '#contract/images.ts';
import { Loader } from '#contract/loader.ts';
import { BmcBinding } from '#contract/nodeSpec.ts';
import { Time } from '#contract/time.ts';
import { pageSchema } from '../api/cursor.ts';
import { PoolPolicy } from '../groups/poolPolicy.ts';
import { WireError } from './error.ts';
import { Event } from './event.ts';

const optionalText = Type.Optional(Type.String());

const Alarm = Type.Object({
  alarmId: Type.String(),
  /** By the clock of the site. */
  at: Type.String(),
  siteId: Type.String(),
  reason: Type.String(),
  text: Type.String(),
  nodeId: optionalText,
  mac: optionalText,
});

const Site = Type.Object({
  siteId: Type.String(),
  name: Type.String(),
  createdAt: Time,
  generation: Type.Integer(),
  observedGeneration: Type.Integer(),
  seenAt: Type.Optional(Time),
  /** Where its BMCs read ISOs of the catalog. */
  mediaFrom: Type.Optional(Type.String()),
  /** Where the centre reads what its cache holds, besides what it reports. */
  inventory: Type.Optional(Type.Object({ url: Type.String(), pin: optionalText })),
  alarms: Type.Array(Alarm),
});

const Pool = Type.Object({
  poolId: Type.String(),
  tenantId: TenantId,
  siteId: Type.String(),
  class: Type.String(),
  policy: PoolPolicy,
  version: Type.Integer({ minimum: 1 }),
  createdAt: Time,
});

const Join = Type.Object({
  joinedAt: optionalText,
  trust: optionalText,
  bootId: optionalText,
  lostAt: optionalText,
});

export const Node = Type.Object({
  nodeId: Type.String(),
  tenantId: TenantId,
  siteId: Type.String(),
  state: Type.String(),
  macs: Type.Array(Type.String()),
  createdAt: Time,
  poolId: optionalText,
  role: optionalText,
  uuid: optionalText,
  hostname: optionalText,
  address: optionalText,
  vlan: Type.Optional(Vlan),
  loader: Type.Optional(Loader),
  secureBoot: Type.Optional(Type.Boolean()),
  /** As its BMC told last, at `healthAt` by the site's clock. */
  health: optionalText,
  power: optionalText,
  faults: Type.Optional(Type.Array(Type.String())),
  /** How what happens at its BMC comes to be known: `sse`, `webhook` or `poll`. */
  events: optionalText,
  healthAt: optionalText,
  bmc: Type.Optional(BmcBinding),
  /** What its BMC may have in its password's place, since when: a change of it has not been seen to its end. */
  nextBmcSecret: Type.Optional(Type.Object({ ref: Type.String(), since: Time })),
  /** Its serial console is being recorded. */
  recording: Type.Optional(ConsoleRecording),
  bootQuirks: Type.Optional(BootQuirks),
  /** What is on its disk; beside a write that did not end, what was there before. */
  images: Type.Array(
    Type.Object({ ref: Type.String(), digest: Type.String(), state: Type.String(), at: Type.String() }),
  ),
  workflowId: optionalText,
  ramdisk: Type.Optional(Join),
  agent: Type.Optional(Join),
  alarms: Type.Array(Alarm),
});

const Acknowledged = Type.Object({ acknowledged: Type.Integer({ minimum: 0 }) });

/** An image as a site has it. */
const SiteImage = Type.Object({
  imageId: Type.String(),
  tenantId: TenantId,
  ref: Type.String(),
  digest: Digest,
  state: Type.Enum(['pulling', 'ready', 'failed', 'evicting']),
  pinned: Type.Boolean(),
  sizeBytes: Type.Optional(Type.Integer()),
  receivedBytes: Type.Optional(Type.Integer()),
  error: Type.Optional(WireError),
  usedAt: Type.Optional(Time),
  reportedAt: Time,
});

export const sites = {
  create: Site,
  setInventory: Site,
  acknowledge: Acknowledged,
  images: pageSchema(SiteImage),
  list: pageSchema(Site),
};
export const pools = { create: Pool, get: Pool, list: pageSchema(Pool), update: Pool };
export const nodes = {
  get: Node,
  update: Node,
  setBootQuirks: Node,
  setLoader: Node,
  acknowledge: Acknowledged,
  /** The cursor is always there: the next call goes on with it, or waits for more. */
  events: Type.Object({ items: Type.Array(Event), cursor: Type.String() }),
  confirm: Type.Object({ nodeId: Type.String(), workflowId: Type.String(), confirmed: Type.String() }),
  redfish: Type.Object({ workflowId: Type.String() }),
  rotateBmcPassword: Type.Object({ workflowId: Type.String() }),
  recordConsole: Type.Object({ ...ConsoleRecording.properties, cursor: Type.String() }),
  endConsole: Type.Object({ recordingId: Type.String() }),
  list: pageSchema(Node),
};
