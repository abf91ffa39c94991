import { known } from '#base/known.ts';
import { canonicalMac } from '#contract/bootEntry.ts';
import { bootFile } from '#ipxe/bootFiles.ts';
import { diskScript } from '#ipxe/diskScript.ts';
import { isoScript } from '#ipxe/isoScript.ts';
import { ramdiskScript } from '#ipxe/ramdiskScript.ts';
import { vlanScript } from '#ipxe/vlanScript.ts';
import { canonicalUuid } from '../dhcp/machineUuid.ts';
import type { BootDecision, MachineFacts } from '../machine.ts';
import { type Answer, errorAnswer, scriptAnswer } from './answer.ts';
import type { BootRequest } from './request.ts';

export interface MachineScriptContext {
  httpUrl: string;
  machineUrl: string;
  /** Whether the machine was handed our iPXE in this boot, and has not asked for its script since. */
  hasLoader(mac: string): boolean;
  /** The id of the machine's boot. With `isHolder` it asks for its script itself, which its boot then has come to. */
  bootOf(mac: string, isHolder: boolean): string;
  leasedTo(address: string): string | undefined;
  decide(machine: MachineFacts): BootDecision | Promise<BootDecision>;
  note(machine: MachineFacts, decision: BootDecision): void;
}

/** `/ipxe?mac=…&uuid=…`: what one machine is to boot now. */
export async function machineScript(request: BootRequest, context: MachineScriptContext): Promise<Answer> {
  // A HEAD would mint a boot token that nobody gets, in the place of the one that a machine holds.
  if (request.method === 'HEAD')
    return errorAnswer({ code: 'INVALID_INPUT', message: 'a script is made as it is fetched: GET it' });
  const mac = canonicalMac(request.query.get('mac') ?? '');
  if (mac === undefined)
    return errorAnswer({
      code: 'INVALID_INPUT',
      message: 'mac: must be the hardware address of the interface that booted',
      details: { path: 'mac' },
    });
  const architecture = buildArchitectures.get(request.query.get('buildarch') ?? '');
  if (architecture === undefined) return scriptAnswer(diskScript(firmwareOf(request)));
  const runsOurs = context.hasLoader(mac);
  const machine = machineFacts(mac, architecture, request, context);
  const decision = await context.decide(machine);
  context.note(machine, decision);
  if (decision.kind !== 'vlan') return scriptAnswer(script(machine, decision, context));
  const newer = runsOurs ? {} : known({ newerIpxe: newestIpxe(machine) });
  return scriptAnswer(vlanScript({ httpUrl: context.httpUrl, mac, vlan: decision.vlan, ...newer }));
}

function newestIpxe({ architecture, firmware }: MachineFacts): string | undefined {
  return bootFile({ machine: architecture, firmware, transport: 'tftp' });
}

/** iPXE's `buildarch`. Its BIOS builds are 32-bit programs: every machine that we serve can run 64 bits. */
const buildArchitectures: ReadonlyMap<string, MachineFacts['architecture']> = new Map([
  ['i386', 'x86_64'],
  ['x86_64', 'x86_64'],
  ['arm64', 'aarch64'],
]);

function firmwareOf({ query }: BootRequest): MachineFacts['firmware'] {
  return query.get('platform') === 'pcbios' ? 'bios' : 'uefi';
}

function machineFacts(
  mac: string,
  architecture: MachineFacts['architecture'],
  request: BootRequest,
  context: MachineScriptContext,
): MachineFacts {
  const { query, from } = request;
  const uuid = canonicalUuid(query.get('uuid') ?? '');
  const serial = query.get('serial')?.slice(0, 128);
  const leasedTo = context.leasedTo(from);
  const vlan = Number(query.get('vlan') ?? 0);
  return {
    mac,
    ...(Number.isInteger(vlan) && vlan > 0 && { vlan }),
    ...(uuid !== undefined && { uuid }),
    ...(serial && { serial }),
    architecture,
    firmware: firmwareOf(request),
    address: from,
    ...known({ leasedTo }),
    bootId: context.bootOf(mac, leasedTo === mac),
  };
}

function script(
  machine: MachineFacts,
  decision: Exclude<BootDecision, { kind: 'vlan' }>,
  context: MachineScriptContext,
): string {
  const { firmware } = machine;
  if (decision.kind === 'disk') return diskScript(firmware, decision.loader);
  const { httpUrl } = context;
  if (decision.kind === 'iso') return isoScript({ firmware, httpUrl, digest: decision.digest });
  const kernelArguments = bootArguments(machine, decision, context);
  return ramdiskScript({ firmware, httpUrl, digest: decision.digest, kernelArguments });
}

/** The command line that a boot loader gives the ramdisk. */
export function bootArguments(
  { mac }: MachineFacts,
  { kernelArguments, token }: Extract<BootDecision, { kind: 'ramdisk' }>,
  { machineUrl }: Pick<MachineScriptContext, 'machineUrl'>,
): string[] {
  return [
    ...kernelArguments,
    `railhead.site=${machineUrl}`,
    `railhead.token=${token}`,
    `railhead.mac=${mac}`,
  ];
}
