import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { readIdentity } from '#agent/join/identity.ts';
import { signDocument } from '#base/jws.ts';
import { publicJwk } from '#central/join/keys.ts';
import type { MachinePollAnswer, MachineSecretAnswer } from '#contract/agentWire.ts';
import type { RamdiskJoin, RamdiskJoinAnswer } from '#contract/join.ts';
import type { OperationResult } from '#contract/operations.ts';
import { connectSite, type SiteClient } from '#ramdisk/site/client.ts';
import { leasedAddress } from './leases.ts';
import type { LoopbackSite } from './loopbackSite.ts';

export interface MachineKeys {
  signing: KeyObject;
  sealing: KeyObject;
}

export function newMachineKeys(): MachineKeys {
  return {
    signing: generateKeyPairSync('ed25519').privateKey,
    sealing: generateKeyPairSync('x25519').privateKey,
  };
}

/** What iPXE gets for a machine that has `from` as its address. */
export async function fetchScript(
  site: LoopbackSite,
  mac: string,
  { more = '', from = leasedAddress } = {},
): Promise<string> {
  const where = `${site.httpUrl}/ipxe?mac=${mac}&buildarch=x86_64&platform=efi${more}`;
  return new Promise((resolve, reject) => {
    const asking = get(where, { localAddress: from, agent: false }, (answer) =>
      text(answer).then(resolve, reject),
    );
    asking.once('error', reject);
  });
}

export function tokenIn(script: string): string {
  const token = /railhead\.token=(\S+)/.exec(script)?.[1];
  if (token === undefined) throw new Error(`no token in this script:\n${script}`);
  return token;
}

/** A ramdisk's side of the machine listener, one step at a time. */
export interface ScriptedMachine {
  client: SiteClient;
  keys: MachineKeys;
  message(token: string, mac: string, bootId?: string): Promise<RamdiskJoin>;
  join(token: string, mac: string, bootId?: string): Promise<RamdiskJoinAnswer>;
  poll(session: string, taken?: string[], waitSeconds?: number): Promise<MachinePollAnswer>;
  secret(session: string, ref: string): Promise<MachineSecretAnswer>;
  report(session: string, result: Omit<OperationResult, 'finishedAt' | 'jws'>): Promise<void>;
}

/** A machine that trusts the CA of the site's identity, and has `from` as its address. */
export async function newMachine(
  site: LoopbackSite,
  { keys = newMachineKeys(), from = leasedAddress } = {},
): Promise<ScriptedMachine> {
  const { ca } = await readIdentity(site.stateDirectory, 'site');
  const client = connectSite(site.machineUrl, ca, from);
  onTestFinished(() => client.close());
  const message = async (token: string, mac: string, bootId = 'boot-1'): Promise<RamdiskJoin> => {
    const claim = {
      protocol: 1,
      token,
      mac,
      bootId,
      signingKey: publicJwk(keys.signing),
      sealingKey: publicJwk(keys.sealing),
      version: '0',
      trust: 'network' as const,
    };
    return { ...claim, proof: await signDocument('railhead-ramdisk-join', claim, keys.signing) };
  };
  return {
    client,
    keys,
    message,
    join: async (token, mac, bootId) =>
      (await client.post('/v1/join', await message(token, mac, bootId))) as RamdiskJoinAnswer,
    poll: async (session, taken = [], waitSeconds = 10) =>
      (await client.post('/v1/machine/poll', { waitSeconds, taken }, { session })) as MachinePollAnswer,
    secret: async (session, ref) =>
      (await client.post('/v1/machine/secret', { ref }, { session })) as MachineSecretAnswer,
    report: async (session, ended) => {
      const result = { ...ended, finishedAt: new Date().toISOString() };
      const jws = await signDocument('railhead-result', result, keys.signing);
      await client.post('/v1/machine/report', { results: [{ ...result, jws }], progress: [] }, { session });
    },
  };
}
