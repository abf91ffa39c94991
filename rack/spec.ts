import Type, { type Static } from 'typebox';
import { RailheadError } from '#contract/errors.ts';
import { validate } from '#contract/validate.ts';
import { FaultRule } from './bmc/faultRule.ts';
import { faultNames } from './bmc/faults.ts';
import { rtcPattern } from './machine/batteryClock.ts';
import { diskBusNames } from './machine/disks.ts';
import { firmwareNames } from './machine/firmware.ts';

const closed = { additionalProperties: false };

const DiskSpec = Type.Object(
  {
    /** A whole number of M, G or T (powers of 1024). */
    size: Type.String({ pattern: '^[1-9]\\d*[MGT]$' }),
    bus: Type.Enum(diskBusNames, { default: 'virtio' }),
  },
  closed,
);

const MachineSpec = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z][a-z0-9-]{0,30}$' }),
    firmware: Type.Enum(firmwareNames),
    memoryMiB: Type.Integer({ minimum: 128, default: 768 }),
    disks: Type.Array(DiskSpec, { default: [] }),
    faults: Type.Array(Type.Union([Type.Enum(faultNames), FaultRule]), { default: [] }),
    /** A file: the boot ROM of a BIOS machine's network card, instead of the one that comes with QEMU. */
    nicRom: Type.Optional(Type.String({ minLength: 1 })),
    /** Its cable ends at a trunk port: the provisioning network without a tag, and these VLANs. */
    vlans: Type.Optional(
      Type.Array(Type.Integer({ minimum: 2, maximum: 254 }), { minItems: 1, uniqueItems: true }),
    ),
    /**
     * `http`: its firmware boots by HTTP alone, not by PXE; `https`: and trusts the CAs that were enrolled in it; `ipv6`: by PXE over IPv6
     * alone, not over IPv4 first.
     */
    bootsOver: Type.Optional(Type.Enum(['http', 'https', 'ipv6'])),
    /** What its battery clock shows at first: `+2h` off the right time, or a date, `2010-01-01`. */
    rtc: Type.Optional(Type.String({ pattern: rtcPattern })),
  },
  closed,
);
export type MachineSpec = Static<typeof MachineSpec>;

/** What a rack consists of. The names of its network namespaces begin with `prefix`. */
const RackSpec = Type.Object(
  {
    prefix: Type.String({ pattern: '^[a-z][a-z0-9]{0,15}$', default: 'rh' }),
    machines: Type.Array(MachineSpec, {
      minItems: 1,
      maxItems: 200,
      default: [
        { name: 'uefi-1', firmware: 'uefi', disks: [{ size: '8G' }] },
        { name: 'bios-1', firmware: 'bios', disks: [{ size: '8G' }] },
      ],
    }),
  },
  closed,
);
export type RackSpec = Static<typeof RackSpec>;

/**
 * A checked rack with all defaults filled in; two machines of one name are refused.
 * @throws RailheadError INVALID_CONFIG whose `details.path` names the offending field
 */
export function rackSpec(document: unknown): RackSpec {
  const spec = validate(RackSpec, document, 'INVALID_CONFIG');
  const names = spec.machines.map((machine) => machine.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return spec;
  throw new RailheadError(
    'INVALID_CONFIG',
    `machines: two are called ${twice}; give each a name of its own`,
    {
      path: 'machines',
      name: twice,
    },
  );
}

/** The options of `--machine name:firmware:option=value,…`, each with what it does to the document. */
const options: Record<string, (machine: MachineDocument, value: string) => void> = {
  disk: (machine, value) => {
    const [size, bus] = value.split('@');
    machine.disks.push(bus === undefined ? { size } : { size, bus });
  },
  memory: (machine, value) => {
    machine.memoryMiB = Number(value);
  },
  fault: (machine, value) => {
    machine.faults.push(value);
  },
  rom: (machine, value) => {
    machine.nicRom = value;
  },
  vlan: (machine, value) => {
    machine.vlans = [...(machine.vlans ?? []), Number(value)];
  },
  over: (machine, value) => {
    machine.bootsOver = value;
  },
  rtc: (machine, value) => {
    machine.rtc = value;
  },
};

interface MachineDocument {
  name: string | undefined;
  firmware: string | undefined;
  memoryMiB?: number;
  disks: { size: string | undefined; bus?: string }[];
  faults: string[];
  nicRom?: string;
  vlans?: number[];
  rtc?: string;
  bootsOver?: string;
}

/**
 * The machine that `--machine` describes, e.g. `a:uefi:disk=8G,disk=4G@nvme,memory=1024`; still to be checked by `rackSpec`.
 * @throws RailheadError INVALID_INPUT for an unknown option
 */
export function parseMachine(text: string): unknown {
  const [name, firmware, list = ''] = text.split(':');
  const machine: MachineDocument = { name, firmware, disks: [], faults: [] };
  for (const option of list.split(',').filter((part) => part !== '')) {
    const [key = '', value = ''] = option.split('=');
    const apply = Object.hasOwn(options, key) ? options[key] : undefined;
    if (apply === undefined) throw unknownOption(text, key);
    apply(machine, value);
  }
  return machine;
}

function unknownOption(text: string, option: string): RailheadError {
  const known = Object.keys(options).join(', ');
  return new RailheadError(
    'INVALID_INPUT',
    `--machine ${text}: ${option} is not an option; write name:firmware:option=value,… with ${known}`,
    { option },
  );
}
