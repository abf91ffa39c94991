import { systemClock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { ConsoleOutput, ConsoleSession, SerialConsole, SshConsole } from '#console/session.ts';
import { openSsh } from '#console/ssh/open.ts';
import { RailheadError } from '#contract/errors.ts';
import { IpmiClient } from '#ipmi/client.ts';
import type { CipherMemory } from '#ipmi/session.ts';
import { openSol } from '#ipmi/sol.ts';
import { type BoundNode, drivenBy } from '../drivers/boundNode.ts';
import type { Bmcs } from '../operations/bmcs.ts';
import type { BmcCredentials } from '../secrets/bmcCredentials.ts';
import type { SshKeys } from '../store/sshKeys.ts';
import { byTheRightLogin } from './rightLogin.ts';

export interface ConsoleParts {
  bmcs: Pick<Bmcs, 'read'>;
  sshKeys: Pick<SshKeys, 'find' | 'keep'>;
  ciphers: CipherMemory;
  /** The program of IPMI. */
  ipmitool: string;
  credentialsOf(node: BoundNode): Promise<BmcCredentials>;
  log: Log;
}

export interface OpenOptions {
  output: ConsoleOutput;
  /** End the session at the BMC that somebody else has. */
  takeOver?: boolean;
}

/** Opens the serial console of a node by its BMC. */
export type OpenConsole = (node: BoundNode, options: OpenOptions) => Promise<ConsoleSession>;

/** After these the other way is tried: nothing was refused that a second try would make worse. */
const passing = ['unreachable', 'old-crypto', 'console-refused'];

/**
 * The opener of consoles: by SSH where the BMC has that, else by IPMI at the same host, or as the node's record says.
 * @throws RailheadError (the opener) UNSUPPORTED (`no-console`, `no-ssh-console`), or as the way that was tried last
 */
export function consoleOpener(parts: ConsoleParts): OpenConsole {
  return async (node, options) => {
    const { driver, console: wanted = 'auto' } = node.bmc;
    if (driver !== 'redfish' && driver !== 'ipmi') throw noConsole(node);
    if (driver === 'ipmi' || wanted === 'sol') return bySol(node, await solPort(node, parts), options, parts);
    const ways = await waysOf(node, parts);
    if (wanted === 'ssh') return bySsh(node, required(ways.ssh, node), options, parts);
    return byEither(node, ways, options, parts);
  };
}

async function byEither(
  node: BoundNode,
  { ssh, sol }: SerialConsole,
  options: OpenOptions,
  parts: ConsoleParts,
): Promise<ConsoleSession> {
  if (sol === undefined || ssh === undefined) {
    if (sol !== undefined) return bySol(node, sol.port, options, parts);
    return bySsh(node, required(ssh, node), options, parts);
  }
  try {
    return await bySsh(node, ssh, options, parts);
  } catch (error) {
    if (!passing.includes(reasonOf(error))) throw error;
    parts.log.info({ err: error, nodeId: node.nodeId }, 'no console by SSH: IPMI is tried');
    return bySol(node, sol.port, options, parts);
  }
}

/** What the BMC tells of its ways. One whose web server does not answer may still have its serial console by IPMI. */
async function waysOf(node: BoundNode, { bmcs }: ConsoleParts): Promise<SerialConsole> {
  try {
    return (await bmcs.read(node, async (bmc) => bmc.serialConsole?.())) ?? { sol: { port: 623 } };
  } catch (error) {
    if (reasonOf(error) !== 'unreachable') throw error;
    return { sol: { port: 623 } };
  }
}

/** IPMI's own where it drives the node; else where the BMC says, or the standard's. */
async function solPort(node: BoundNode, parts: ConsoleParts): Promise<number> {
  if (node.bmc.driver === 'ipmi') return Number(new URL(node.bmc.address ?? '').port || 623);
  return (await waysOf(node, parts)).sol?.port ?? 623;
}

async function bySol(
  node: BoundNode,
  port: number,
  options: OpenOptions,
  parts: ConsoleParts,
): Promise<ConsoleSession> {
  const { hostname } = new URL(node.bmc.address ?? '');
  const { bmc } = drivenBy(node, 'ipmi', `ipmi://${hostname}:${port}`);
  const address = bmc?.address ?? '';
  const client = new IpmiClient({
    address,
    ...(await parts.credentialsOf(node)),
    program: parts.ipmitool,
    ciphers: parts.ciphers,
    log: parts.log.child({ bmc: address }),
    clock: systemClock,
  });
  return openSol(client, options);
}

async function bySsh(
  node: BoundNode,
  console: SshConsole,
  options: OpenOptions,
  { sshKeys, credentialsOf }: ConsoleParts,
): Promise<ConsoleSession> {
  const { address = '', sshHostKey, oldTls = false } = node.bmc;
  const host = new URL(address).hostname.replace(/^\[|\]$/g, '');
  const place = `${host}:${console.port}`;
  return byTheRightLogin(await credentialsOf(node), (login) =>
    openSsh({
      host,
      ...login,
      console,
      hostKey: sshHostKey ?? sshKeys.find(place),
      onHostKey: (found) => sshKeys.keep(place, found),
      oldCrypto: oldTls,
      ...options,
    }),
  );
}

function required(ssh: SshConsole | undefined, { nodeId }: BoundNode): SshConsole {
  if (ssh !== undefined) return ssh;
  const message = `the BMC of ${nodeId} tells of no serial console by SSH: enroll it with --bmc-console sol`;
  throw new RailheadError('UNSUPPORTED', message, { path: 'bmc.console', reason: 'no-ssh-console' });
}

function noConsole({ nodeId }: BoundNode): RailheadError {
  const message = `${nodeId} has no BMC, and so no serial console that could be reached`;
  return new RailheadError('UNSUPPORTED', message, { path: 'bmc', reason: 'no-console' });
}

function reasonOf(error: unknown): string {
  return error instanceof RailheadError ? String(error.details?.reason ?? '') : '';
}
