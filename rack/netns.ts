import { type CommandOptions, run } from '#base/command.ts';
import { ignore } from '#base/errors.ts';
import type { RackNamespaces } from './record.ts';

export function namespaceNames(prefix: string): RackNamespaces {
  return { site: `${prefix}-site`, mgmt: `${prefix}-mgmt`, centre: `${prefix}-centre` };
}

/**
 * The command that runs `command` inside a network namespace. `nsenter` changes nothing but the network (`ip netns exec`
 * also makes a mount namespace, which would keep copies of our mounts alive), and becomes the program it starts.
 */
export function commandIn(namespace: string, command: readonly string[]): [program: string, args: string[]] {
  return ['nsenter', [`--net=/run/netns/${namespace}`, '--', ...command]];
}

/** Runs a program inside a network namespace to its end and returns its output. */
export function runIn(
  namespace: string,
  command: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  const [program, args] = commandIn(namespace, command);
  return run(program, args, options);
}

/** The names of all network namespaces of this host. */
export async function listNamespaces(): Promise<string[]> {
  const listing = await run('ip', ['netns', 'list']);
  return listing
    .split('\n')
    .map((line) => line.split(' ')[0] ?? '')
    .filter((name) => name !== '');
}

/** The processes whose network is the namespace. */
export async function processesIn(namespace: string): Promise<number[]> {
  const listing = await run('ip', ['netns', 'pids', namespace]);
  return listing.split(/\s+/).filter(Boolean).map(Number);
}

/** Ends every process in the namespaces, without asking, and removes these with all that is in them. What is gone already is no error. */
export async function removeNamespaces(names: readonly string[]): Promise<void> {
  const present = await listNamespaces();
  for (const name of names.filter((one) => present.includes(one))) {
    for (const pid of await processesIn(name)) if (pid !== process.pid) kill(pid);
    await run('ip', ['netns', 'delete', name]);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    ignore();
  }
}
