import { rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { ignore } from '#base/errors.ts';
import { RailheadError } from '#contract/errors.ts';
import { listNamespaces, namespaceNames } from './netns.ts';
import { removeNetwork } from './network.ts';
import { prefixOwner, releasePrefix } from './owner.ts';
import { requireRoot } from './prerequisites.ts';
import { type MachineRecord, type RackRecord, readRackRecord, recordFile } from './record.ts';
import { stopSupervisor } from './supervisors.ts';

/**
 * Ends and removes everything of a rack, whatever state a killed run left it in. The record goes last: a removal that is
 * cut short can be done again.
 */
export async function tearDown(rack: RackRecord, { keepFiles = false } = {}): Promise<void> {
  await Promise.all(rack.machines.map(stopSupervisor));
  await removeNetwork(rack.namespaces);
  for (const machine of rack.machines) await removeFiles(machine, keepFiles);
  await releasePrefix(rack.spec.prefix);
  await rm(recordFile(rack.directory), { force: true });
}

/**
 * Takes down the rack in `directory`, or what is left under `prefix` of a rack whose directory was deleted.
 * Returns whether there was anything.
 */
export async function rackDown(
  directory: string,
  prefix: string,
  options: { keepFiles?: boolean } = {},
): Promise<boolean> {
  requireRoot();
  const home = path.resolve(directory);
  const record = await readRackRecord(home);
  if (record !== undefined) {
    await tearDown(record, options);
    return true;
  }
  const owner = await prefixOwner(prefix);
  if (owner === undefined || (await isSomeoneElses(owner, home))) return false;
  await removeUnder(prefix);
  return true;
}

/**
 * Makes sure that a new rack in `directory` can use the namespaces of `prefix`, removing what a rack left there whose
 * directory is gone.
 * @throws RailheadError CONFLICT when they belong to another rack, or to nobody that we know of
 */
export async function claimable(prefix: string, directory: string): Promise<void> {
  const owner = await prefixOwner(prefix);
  if (owner !== undefined && (await isSomeoneElses(owner, directory))) throw otherRack(prefix, owner);
  if (owner !== undefined) return removeUnder(prefix);
  const present = await listNamespaces();
  const foreign = Object.values(namespaceNames(prefix)).find((name) => present.includes(name));
  if (foreign !== undefined) throw foreignNamespace(foreign);
}

async function isSomeoneElses(owner: string, directory: string): Promise<boolean> {
  return owner !== directory && (await readRackRecord(owner)) !== undefined;
}

async function removeUnder(prefix: string): Promise<void> {
  await removeNetwork(namespaceNames(prefix));
  await releasePrefix(prefix);
}

/** By name, one by one: the directory is the user's and may hold files of theirs. */
async function removeFiles(machine: MachineRecord, keep: boolean): Promise<void> {
  const ours = [
    'bmc.key',
    'bmc.crt',
    'console.sock',
    'control.sock',
    'supervisor.json',
    'medium.iso',
    'trunk.sock',
  ];
  const lasting = [
    'console.log',
    'supervisor.log',
    'nvram.fd',
    'wire.pcap',
    ...machine.disks.map(({ file }) => path.basename(file)),
  ];
  for (const name of keep ? ours : [...ours, ...lasting]) {
    await rm(path.join(machine.directory, name), { force: true });
  }
  await rmdir(machine.directory).catch(ignore);
}

function otherRack(prefix: string, owner: string): RailheadError {
  return new RailheadError(
    'CONFLICT',
    `the rack with prefix ${prefix} in ${owner} is up; run railhead rack down --directory ${owner}, or give another --prefix`,
    { prefix, directory: owner },
  );
}

function foreignNamespace(namespace: string): RailheadError {
  return new RailheadError(
    'CONFLICT',
    `the network namespace ${namespace} was not made by a rack that is known; run ip netns delete ${namespace}, or give another --prefix`,
    { namespace },
  );
}
