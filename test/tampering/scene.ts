import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { publicKeyFromJwk } from '#base/jws.ts';
import type { DiskHints } from '#contract/steps.ts';
import type { RunnerParts } from '#ramdisk/operations/runner.ts';
import { startTestCentre } from '../central/centre.ts';
import { deploy, enroll, joinLine, type Line, prepareLine, templatesFolder } from '../central/line.ts';
import { type Machine, startMachine } from './machine.ts';
import { startTamperingSite, type TamperingSite } from './site.ts';

/** What a deploy by the ramdisk of these tests is: the part of the sample profile in which site and machine talk. */
const profile = {
  id: 'ubuntu-24.04-gpu-host',
  version: 1,
  target: 'metal',
  role: 'host',
  image: { ref: 'demo-os@1' },
  userData: { kind: 'cloud-init', template: 'first-boot.yaml' },
  steps: [
    { use: 'userdata.render' },
    { use: 'boot.prepareRamdisk', on: 'site' },
    { use: 'wait.agentJoined', with: { role: 'ramdisk' } },
    { use: 'deploy.deploy', on: 'ramdisk', timeout: '30m' },
  ],
};

function profileOf(withoutUserData = false): object {
  const { userData: _userData, ...plain } = profile;
  if (!withoutUserData) return profile;
  return { ...plain, steps: profile.steps.filter(({ use }) => use !== 'userdata.render') };
}

/** A real centre, the real ramdisk agent, and between them a site that tampers. */
export interface Scene {
  line: Line;
  site: TamperingSite;
  /** Enrolls a node, deploys to it, and starts its machine as soon as it has a boot entry. */
  deploy(): Promise<Deployment>;
  close(): Promise<void>;
}

export interface Deployment {
  nodeId: string;
  workflowId: string;
  machine: Machine;
  end(): Promise<void>;
}

export interface SceneOptions {
  /** What the ramdisk does with an operation that it believes. */
  runStep: RunnerParts['runStep'];
  /** What is known of the image that is deployed. */
  image?: { sha256: string; sizeBytes: number; compression: 'none' };
  /** Which disk to write. */
  disk?: DiskHints;
  /** For an image that has no place for it. */
  withoutUserData?: boolean;
}

export async function setScene({ runStep, image, disk, withoutUserData }: SceneOptions): Promise<Scene> {
  const centre = await startTestCentre({ userData: { templates: await templatesFolder() } });
  const { call, central, directory } = centre;
  const line = await prepareLine(
    { call, agentsUrl: central.agentsUrl, directory },
    profileOf(withoutUserData),
    image,
  );
  const credentials = await joinLine(line);
  const site = await startTamperingSite(line.agentsUrl, line.siteId, credentials);
  const root = await mkdtemp(path.join(tmpdir(), 'railhead-tampering-'));
  const { servingCa: ca, joinSigningKey } = credentials.wellKnown;
  const trust = { ca, signingKeys: [publicKeyFromJwk(joinSigningKey)], trustNumber: 1, centre: {} };
  let count = 0;
  return {
    line,
    site,
    deploy: async () => {
      const number = String(++count);
      const nodeId = `node-${number}`;
      const mac = `52:54:00:00:00:${number.padStart(2, '0')}`;
      await enroll(line, nodeId, mac);
      const workflowId = await deploy(line, nodeId, disk === undefined ? {} : { disk });
      await site.entryOf(nodeId);
      const machine = await startMachine({
        url: site.url,
        trust,
        mac,
        runStep,
        directory: path.join(root, nodeId),
      });
      site.seat(machine.thumbprint, nodeId);
      const end = async () => {
        await call('workflows.cancel', { tenantId: 'root', workflowId });
        await machine.stop();
      };
      return { nodeId, workflowId, machine, end };
    },
    close: async () => {
      await site.close();
      await centre.close();
      await rm(root, { recursive: true });
    },
  };
}
