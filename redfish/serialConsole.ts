import type { SerialConsole, SshConsole } from '#console/session.ts';
import type { RedfishClient } from './client.ts';
import { asObject, asText, type JsonObject, linkOf } from './json.ts';
import type { Vendor } from './vendors/vendor.ts';

/** Where a BMC's SSH listens, as its ManagerNetworkProtocol says; undefined where it does not tell, false where it is off. */
export type SshPort = number | false | undefined;

/**
 * The ways to a machine's serial port: what its system tells (ComputerSystem 1.13, `SerialConsole`), else what is known of the vendor, whose
 * command line is at the manager's SSH. A service that is said to be off is no way.
 */
export function serialConsoleOf(system: JsonObject, vendor: Vendor, managerSsh: SshPort): SerialConsole {
  const told = asObject(system.SerialConsole);
  const ipmi = asObject(told.IPMI);
  const ssh = sshOf(asObject(told.SSH), vendor, managerSsh);
  return {
    ...(ssh !== undefined && { ssh }),
    ...(ipmi.ServiceEnabled !== false && { sol: { port: portOf(ipmi.Port) ?? 623 } }),
  };
}

function sshOf(told: JsonObject, { console: known }: Vendor, managerSsh: SshPort): SshConsole | undefined {
  if (told.ServiceEnabled === false) return undefined;
  const leave = known?.leave === undefined ? {} : { leave: known.leave };
  if (told.ServiceEnabled === true) {
    const port = portOf(told.Port) ?? (managerSsh || 22);
    const commands = entryCommands(asText(told.ConsoleEntryCommand));
    if (commands.length > 0) return { port, commands, ...leave };
    // A port of its own is the serial port itself; one that is the command line's needs what leads on from there.
    if (told.SharedWithManagerCLI !== true && port !== 22) return { port, commands: [] };
    return known === undefined ? undefined : { port, ...known };
  }
  if (known === undefined || managerSsh === false) return undefined;
  return { port: managerSsh ?? 22, ...known };
}

/** One to type after the other: Supermicro writes two with a semicolon, which its own shell does not know. */
function entryCommands(text = ''): string[] {
  return text
    .split(/[;\n]/)
    .map((command) => command.trim())
    .filter((command) => command !== '' && !/\p{Cc}/u.test(command));
}

function portOf(value: unknown): number | undefined {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) < 65536
    ? (value as number)
    : undefined;
}

/** Asks the manager of a system for its SSH; what it does not tell is not known. */
export async function managerSshOf(client: RedfishClient, system: JsonObject): Promise<SshPort> {
  try {
    const [manager] = linksOf(asObject(system.Links).ManagedBy);
    const protocols = manager && linkOf((await client.get(manager)).body.NetworkProtocol);
    if (protocols === undefined) return undefined;
    const { ProtocolEnabled, Port } = asObject((await client.get(protocols)).body.SSH);
    return ProtocolEnabled === false ? false : portOf(Port);
  } catch {
    return undefined;
  }
}

function linksOf(value: unknown): string[] {
  return Array.isArray(value) ? value.flatMap((one) => linkOf(one) ?? []) : [];
}
