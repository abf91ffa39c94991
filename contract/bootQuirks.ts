import Type, { type Static } from 'typebox';

/** What a quirk changes in the boot part of a DHCP reply or in a download, and how we know that some firmware needs it. */
interface BootQuirkFacts {
  does: string;
  evidence: string;
}

/**
 * Everything in which firmware contradicts other firmware: what is right for one machine is wrong for another, so it is set for a
 * machine or a class of clients. Each has a row in docs/hardware.md, and what it does is in `bootserver/dhcp/quirks.ts`, of TFTP in
 * `bootserver/wrapsTo.ts`.
 */
export const bootQuirks = {
  'option-60': {
    does: 'a full offer names PXEClient in option 60, with 43.6 = 8 so that nobody asks port 4011',
    evidence: 'tianocore/edk2 issue 8149, PXE 2.1 §2.2.2',
  },
  'no-option-60': {
    does: 'no PXE reply names a vendor class in option 60',
    evidence: 'tinkerbell/smee PR 228 (Ampere eMAG)',
  },
  'discovery-control': {
    does: 'the reply has 43.6 = 8: load the named file at once, without asking port 4011',
    evidence: 'tianocore/edk2 issues 6944, 8149',
  },
  'no-option-43': {
    does: 'no reply has option 43',
    evidence: 'tianocore/edk2 issue 6944 (Dell T430, T130)',
  },
  'option-66': {
    does: "the server's address is in option 66 too, as text",
    evidence: 'raspberrypi/firmware issue 871, tinkerbell/smee issue 23',
  },
  'no-option-67': {
    does: 'the boot file is in the header field alone',
    evidence: 'garybowers/bootimus PR 117 (a board of 2010)',
  },
  'nul-terminated': {
    does: 'the texts of options 66 and 67 end with a NUL',
    evidence: 'netbootxyz/netboot.xyz issue 1198 (Kontron VX3040), jpmikkers/DHCPServer issue 4',
  },
  'no-boot-item': {
    does: 'the boot item of a request on port 4011 (43.71) is not repeated in the answer',
    evidence: 'danderson/pixiecore issue 21 (Intel NICs on Supermicro)',
  },
  'chain-ipxe': {
    does: "the machine's own iPXE is always given ours first, whatever features it names",
    evidence: "ipxe/ipxe issues 922, 1527; QEMU's ROM of 2019",
  },
  'no-chain-ipxe': {
    does: "the machine's own iPXE is given the script at once, whatever features it names",
    evidence: 'danderson/netboot issue 55',
  },
  'tftp-wrap-to-1': {
    does: 'over TFTP block 1 follows block 65,535, where block 0 does for others',
    evidence: 'Callisto82/tftp.net issue 6, troglobit/uftpd issue 45',
  },
} as const satisfies Record<string, BootQuirkFacts>;

export type BootQuirk = keyof typeof bootQuirks;
export const bootQuirkNames = Object.keys(bootQuirks) as BootQuirk[];

/** The classes of network-boot clients that quirks can be set for; `any` is all of them. */
export const bootClasses = [
  'bios-pxe',
  'uefi-pxe',
  'uefi-http',
  'ipxe',
  'own-ipxe',
  'u-boot',
  'raspberry-pi',
  'unknown-pxe',
] as const;
export type BootClass = (typeof bootClasses)[number];

const quirkList = (name: string) =>
  Type.Array(Type.Enum(bootQuirkNames), {
    maxItems: bootQuirkNames.length,
    description: `${name === 'any' ? 'For every class' : `For ${name}`}: names of docs/hardware.md.`,
  });
const classProperties = Object.fromEntries(
  ['any', ...bootClasses].map((name) => [name, Type.Optional(quirkList(name))]),
) as Record<BootClass | 'any', Type.TOptional<ReturnType<typeof quirkList>>>;

/** Quirks by class of client: a machine is several in one boot, first its firmware, then iPXE. */
export const BootQuirks = Type.Object(classProperties, {
  additionalProperties: false,
  description: 'Quirks of firmware by class of client; `any` is for all of its classes.',
});
export type BootQuirks = Static<typeof BootQuirks>;

/** The quirks that hold for one class, of several settings together; for `any`, of a client of no known class. */
export function quirksFor(
  boot: BootClass | 'any',
  ...settings: readonly (BootQuirks | undefined)[]
): ReadonlySet<BootQuirk> {
  return new Set(settings.flatMap((quirks) => [...(quirks?.any ?? []), ...(quirks?.[boot] ?? [])]));
}

/** Both settings in one, for a receiver that is told one of them. */
export function mergedQuirks(...settings: readonly (BootQuirks | undefined)[]): BootQuirks | undefined {
  const merged: BootQuirks = {};
  for (const name of ['any', ...bootClasses] as const) {
    const quirks = new Set(settings.flatMap((quirks) => quirks?.[name] ?? []));
    if (quirks.size > 0) merged[name] = [...quirks].toSorted();
  }
  return Object.keys(merged).length === 0 ? undefined : merged;
}
