import { known } from '#base/known.ts';
import { canonicalMac } from '#contract/bootEntry.ts';
import { type MachineConfig, machineConfig } from '#grub/machineConfig.ts';
import { canonicalUuid } from '../dhcp/machineUuid.ts';
import type { BootDecision, MachineFacts } from '../machine.ts';
import { type Answer, errorAnswer, scriptAnswer } from './answer.ts';
import { bootArguments, type MachineScriptContext } from './machineScript.ts';
import type { BootRequest } from './request.ts';

/** GRUB's `grub_cpu`. */
const cpus: ReadonlyMap<string, MachineFacts['architecture']> = new Map([
  ['x86_64', 'x86_64'],
  ['arm64', 'aarch64'],
]);

const menuBytes = 8192;

export const machineMenuPattern = /^\/grub\/menu\/([^/]+)\/([^/]+)\/([^/]*)$/;

/**
 * `/grub/menu/<mac>/<cpu>/<uuid>`: the menu of one machine that was booted by shim and GRUB. GRUB that was started by HTTP boot asks for its
 * size by a HEAD, then for these many bytes (seen with Debian's 2.12): both mint a token, of which the later counts.
 */
export async function machineMenu(request: BootRequest, context: MachineScriptContext): Promise<Answer> {
  const [, macText = '', cpu = '', uuid = ''] = machineMenuPattern.exec(request.path) ?? [];
  const mac = canonicalMac(macText);
  if (mac === undefined) return refusal('mac', 'must be the hardware address of the interface that booted');
  const architecture = cpus.get(cpu);
  if (architecture === undefined) return refusal('cpu', 'must be the grub_cpu of a machine that is served');
  const machine = machineFacts({ mac, architecture, uuid }, request.from, context);
  const decision = await context.decide(machine);
  if (request.method === 'GET') context.note(machine, decision);
  return scriptAnswer(padded(menu(machine, decision, context)));
}

/** Line ends up to a size that a decision which came between HEAD and GET does not change. */
function padded(text: string): string {
  return text.padEnd(Math.ceil(text.length / menuBytes) * menuBytes, '\n');
}

function refusal(path: string, rule: string): Answer {
  return errorAnswer({ code: 'INVALID_INPUT', message: `${path}: ${rule}`, details: { path } });
}

function machineFacts(
  told: Pick<MachineFacts, 'mac' | 'architecture'> & { uuid: string },
  from: string,
  context: MachineScriptContext,
): MachineFacts {
  const { mac, architecture } = told;
  const leasedTo = context.leasedTo(from);
  const bootId = context.bootOf(mac, leasedTo === mac);
  return {
    ...{ mac, architecture, firmware: 'uefi', address: from, bootId },
    ...known({ uuid: canonicalUuid(told.uuid), leasedTo }),
  };
}

function menu(machine: MachineFacts, decision: BootDecision, context: MachineScriptContext): string {
  const { architecture } = machine;
  const { httpUrl } = context;
  const config = (boot: MachineConfig['boot']) => machineConfig({ architecture, httpUrl, boot });
  if (decision.kind === 'iso') return config({ kind: 'iso', digest: decision.digest });
  if (decision.kind === 'vlan') return config({ kind: 'vlan', vlan: decision.vlan });
  if (decision.kind === 'disk') {
    const { loader } = decision;
    return machineConfig({ architecture, httpUrl, ...(loader && { loader }), boot: { kind: 'disk' } });
  }
  const kernelArguments = bootArguments(machine, decision, context);
  return config({ kind: 'ramdisk', digest: decision.digest, kernelArguments });
}
